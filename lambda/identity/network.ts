import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { GatewayError } from '../errors.ts';
import type { RequestHeaders } from './credential.ts';

export interface Network {
  /** A keyed hash, which is what is stored and logged. */
  readonly id: string;
  /** In plain text: an IPv4 address, or the /64 of an IPv6 address. Shown only to its owner, and never stored. */
  readonly name: string;
  /** What body memory is shared by, in plain text: an IPv4 address, or the /48 of an IPv6 address. Lives as long as the request. */
  readonly site: string;
}

/** Finds the network that a request came from. Throws if its address or the salt is missing. */
export type FindNetwork = (headers: RequestHeaders, sourceAddress: string) => Promise<Network>;

interface Secrets extends Pick<Edge, 'edgeSecrets'> {
  readonly networkKey: () => Promise<KeyObject>;
}

export function createFindNetwork(
  { edgeHeader, edgeOnly }: Omit<Edge, 'edgeSecrets'>,
  { edgeSecrets, networkKey }: Secrets,
): FindNetwork {
  const edge = { edgeHeader, edgeSecrets, edgeOnly };
  return async (headers, sourceAddress) => {
    const [address, key] = await Promise.all([locateViewer(edge, headers, sourceAddress), networkKey()]);
    const name = networkOf(address) ?? address;
    return { id: networkId(name, key), name, site: siteOf(name) };
  };
}

/** Authenticates the CDN in front. (CloudFront can't add headers that start with `x-edge-` or `x-amz-`.) */
export const originSecretHeader = 'x-origin-secret';

/** CloudFront's own header: the viewer's address and port, without brackets around an IPv6 address. */
export const cloudFrontHeader = 'cloudfront-viewer-address';

interface Edge {
  /** The CDN's header with the viewer's address; undefined without a CDN. */
  readonly edgeHeader: string | undefined;
  /** The accepted secrets of the CDN: two of them during a rotation. */
  readonly edgeSecrets: () => Promise<readonly string[]>;
  /** Whether requests that bypass the CDN are refused. If not, they are identified by their source address. */
  readonly edgeOnly: boolean;
}

/**
 * The client's address. The CDN's header is trusted only in requests that carry its secret, and no header is trusted without a CDN.
 * Throws if a request bypassed the CDN and may not.
 */
export async function locateViewer(
  { edgeHeader, edgeSecrets, edgeOnly }: Edge,
  headers: RequestHeaders,
  sourceIp: string,
): Promise<string> {
  const isThrough = edgeHeader !== undefined && provesItself(headers[originSecretHeader], await edgeSecrets());
  if (edgeHeader !== undefined && !isThrough && edgeOnly) {
    throw new GatewayError('not_found', 'There is nothing here.', { reason: 'around_edge' });
  }
  const address = isThrough ? readAddress(edgeHeader, headers[edgeHeader]?.trim() ?? '') : sourceIp;
  if (address !== undefined && isIP(address) !== 0) return address;
  // Otherwise all callers without an address would count as one network and share its quota.
  throw new GatewayError('internal_error', 'The gateway could not tell where this request came from.', {
    reason: 'no_viewer_address',
  });
}

/** Compares in constant time. */
function provesItself(sent: string | undefined, secrets: readonly string[]): boolean {
  if (!sent) return false;
  return secrets.filter((secret) => timingSafeEqual(digest(sent), digest(secret))).length > 0;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** CDNs send a bare address, except for CloudFront, which appends a port, without brackets even for IPv6. */
function readAddress(header: string, value: string): string | undefined {
  return header === cloudFrontHeader ? /^(.*):\d+$/.exec(value)?.[1] : value;
}

/**
 * The network of an address in canonical form: the IPv4 address itself, or the /64 of an IPv6 address. Also accepts a /64, as
 * operators type it. Undefined for anything else.
 */
export function networkOf(text: string): string | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:%[^/]*)?(\/64)?$/.exec(text.trim()) ?? [];
  if (isIP(address) === 4) return prefix ? undefined : address;
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return mappedIpv4(groups);
  return `${shortest(`${groups.slice(0, 4).join(':')}::`)}/64`;
}

/** The /48 of an IPv6 network in canonical form, which is as much as one customer usually gets; an IPv4 address stays as it is. */
export function siteOf(network: string): string {
  if (!network.endsWith('/64')) return network;
  return `${shortest(`${groupsOf(network.slice(0, -3)).slice(0, 3).join(':')}::`)}/48`;
}

/** How a network is stored and logged: a keyed hash of 132 bits, which says nothing about the address without the salt. */
export function networkId(network: string, key: KeyObject): string {
  return createHmac('sha256', key).update(network).digest('base64url').slice(0, 22);
}

/** `URL` normalizes an IPv6 address to its shortest form, without leading zeros or dotted IPv4. */
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
