import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * The network that an address belongs to, in one spelling: an IPv4 address as a whole, the /64 of an IPv6 address.
 * Takes an address, or a /64 as an operator writes it; undefined for anything else.
 */
export function networkOf(text: string): string | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:%[^/]*)?(\/64)?$/.exec(text.trim()) ?? [];
  if (isIP(address) === 4) return prefix ? undefined : address;
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return mappedIpv4(groups);
  return `${shortest(`${groups.slice(0, 4).join(':')}::`)}/64`;
}

/** How a network is stored and logged: a keyed hash that tells nothing of the address without the salt. 132 bits. */
export function networkId(network: string, salt: string): string {
  return createHmac('sha256', salt).update(network).digest('base64url').slice(0, 22);
}

/** The URL standard knows the one shortest spelling of an IPv6 address, without leading zeros or dotted ends. */
function shortest(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = shortest(address).split('::');
  const [before, after] = [head, tail].map((half) => (half === '' ? [] : half.split(':'))) as [string[], string[]];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

function mappedIpv4(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join('.');
}
