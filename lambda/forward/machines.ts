import { BlockList, isIPv4 } from 'node:net';

const addresses = /(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(:\d{2,5})?(?![\w-]|\.\d|\/\d)/g;
/** Names by the domains that no public name has. */
const privateNames =
  /(?<![\w.-])(?:[a-z\d-]{1,63}\.){1,8}(?:internal|local|localdomain|lan)(:\d{2,5})?(?![\w-]|\.\w)/gi;
const clusters = /\.(cluster\.local|(ec2|compute)\.internal)$/i;

const privateNetworks = new BlockList();
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addSubnet('100.64.0.0', 10);
privateNetworks.addSubnet('127.0.0.0', 8);
privateNetworks.addSubnet('169.254.0.0', 16);

const hostRemoved = '(host removed)';

/** Removes the machines behind an upstream. What may be a caller's own, a version or code stays: `203.0.113.7`, `self.local`. */
export function removeMachines(text: string): string {
  return text
    .replace(addresses, (found, address: string, port?: string) => {
      const isMachine = isIPv4(address) && (port !== undefined || privateNetworks.check(address));
      return isMachine ? hostRemoved : found;
    })
    .replace(privateNames, (found, port?: string) =>
      port !== undefined || /\d/.test(found) || clusters.test(found) ? hostRemoved : found,
    );
}
