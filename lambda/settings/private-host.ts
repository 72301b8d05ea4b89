import { BlockList, isIP } from 'node:net';

/** Of the machine itself, a private network, a link or a provider's inside. */
const privateNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::/127',
  'fc00::/7',
  'fe80::/10',
];

/** Domains that no public name has: https://www.iana.org/assignments/special-use-domain-names and, by ICANN's resolution, `internal`. */
const privateName = /(^|\.)(localhost|local|internal)\.?$/;

/** Whether the host of a URL, as `URL` spells it, can't be reached from the internet. A public name may lead to such an address too. */
export function isPrivateHost(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return privateName.test(hostname);
  const networks = new BlockList();
  for (const network of privateNetworks) {
    const [net = '', prefix] = network.split('/');
    networks.addSubnet(net, Number(prefix), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  // An IPv4 address that is written as an IPv6 one is found among those of IPv4.
  return networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
