import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { GatewayError } from '../http/errors.ts';
import type { RequestHeaders } from './credentials.ts';

/** The header in which a CDN in front proves itself. (CloudFront can't add one that begins with `x-edge-` or `x-amz-`.) */
export const originSecretHeader = 'x-origin-secret';

/** CloudFront's own header: the viewer's address and port, without brackets around an IPv6 address. */
export const cloudFrontHeader = 'cloudfront-viewer-address';

interface Edge {
  /** The header in which the CDN names the viewer; undefined without a CDN. */
  readonly edgeHeader: string | undefined;
  /** The secrets that the CDN may prove itself with: two while one is being replaced. */
  readonly edgeSecrets: () => Promise<readonly string[]>;
  /** Whether only requests through the CDN are served. If not, others are identified by the address that they come from. */
  readonly edgeOnly: boolean;
}

/** Finds the address that a request came from. Throws if the request bypassed the CDN. */
export type LocateViewer = (headers: RequestHeaders, sourceIp: string) => Promise<string>;

/** Without a CDN no header is believed. With one, its header is believed of requests that carry its secret. */
export function createLocateViewer({ edgeHeader, edgeSecrets, edgeOnly }: Edge): LocateViewer {
  const locateSource: LocateViewer = async (_headers, sourceIp) => {
    if (isIP(sourceIp) === 0) throw noViewerAddress();
    return sourceIp;
  };
  if (edgeHeader === undefined) return locateSource;
  return async (headers, sourceIp) => {
    if (!provesItself(headers[originSecretHeader], await edgeSecrets())) {
      if (!edgeOnly) return locateSource(headers, sourceIp);
      throw new GatewayError('not_found', 'There is nothing here.', { reason: 'around_edge' });
    }
    const address = readAddress(edgeHeader, headers[edgeHeader]?.trim() ?? '');
    if (address !== undefined) return address;
    throw noViewerAddress();
  };
}

/** Without this, all callers without an address would be one network and share one allowance. */
function noViewerAddress(): GatewayError {
  return new GatewayError('internal_error', 'The gateway could not tell where this request came from.', {
    reason: 'no_viewer_address',
  });
}

/** Takes the same time for any secret. */
function provesItself(given: string | undefined, secrets: readonly string[]): boolean {
  if (!given) return false;
  return secrets.filter((secret) => timingSafeEqual(digest(given), digest(secret))).length > 0;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** CDNs write a bare address, except CloudFront: it appends a port, even where the result looks like an IPv6 address. */
function readAddress(header: string, value: string): string | undefined {
  const address = header === cloudFrontHeader ? /^(.*):\d+$/.exec(value)?.[1] : value;
  return address !== undefined && isIP(address) !== 0 ? address : undefined;
}
