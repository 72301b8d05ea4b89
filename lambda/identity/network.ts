import { createHmac, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * The network that an address belongs to, in canonical form: the IPv4 address itself, or the /64 of an IPv6 address. Also takes
 * a /64 as an operator writes it; undefined for anything else.
 */
export function networkOf(text: string): string | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:%[^/]*)?(\/64)?$/.exec(text.trim()) ?? [];
  if (isIP(address) === 4) return prefix ? undefined : address;
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return mappedIpv4(groups);
  return `${shortest(`${groups.slice(0, 4).join(':')}::`)}/64`;
}

/** The /48 that a network in canonical form belongs to, which is what one customer may have; an IPv4 address is its own. */
export function siteOf(network: string): string {
  if (!network.endsWith('/64')) return network;
  return `${shortest(`${groupsOf(network.slice(0, -3)).slice(0, 3).join(':')}::`)}/48`;
}

/** A network as it is stored and logged: a keyed hash of 132 bits, which reveals nothing of the address without the salt. */
export function networkId(network: string, key: KeyObject): string {
  return createHmac('sha256', key).update(network).digest('base64url').slice(0, 22);
}

/** In a URL an IPv6 address takes its shortest form, without leading zeros or a dotted end. */
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
