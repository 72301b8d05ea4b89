import { BlockList, isIP } from 'node:net';

/** Loopback, private, link-local and carrier-grade NAT ranges. */
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

/** Domains that are never public: https://www.iana.org/assignments/special-use-domain-names, and `internal`, which ICANN has reserved. */
const privateName = /(^|\.)(localhost|local|internal)\.?$/;

/** Whether a `URL`'s hostname can't be reached from the internet. Names are not resolved: a public name may point to a private address. */
export function isPrivateHost(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return privateName.test(hostname);
  const networks = new BlockList();
  for (const network of privateNetworks) {
    const [net = '', prefix] = network.split('/');
    networks.addSubnet(net, Number(prefix), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  // `BlockList` also matches IPv4-mapped IPv6 addresses against IPv4 ranges.
  return networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
