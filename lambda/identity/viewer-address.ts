import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { GatewayError } from '../http/errors.ts';
import type { RequestHeaders } from './credentials.ts';

/** The header in which a CDN in front proves itself. (CloudFront sends none that begins with `x-edge-` or `x-amz-`.) */
export const originSecretHeader = 'x-origin-secret';

/** CloudFront's own header: address and port of the viewer, an IPv6 address without brackets. */
export const cloudFrontHeader = 'cloudfront-viewer-address';

interface Edge {
  /** The header in which the CDN names the viewer; undefined where there is no CDN in front. */
  readonly edgeHeader: string | undefined;
  /** The secrets by which the CDN is known: two while one is being replaced. */
  readonly edgeSecrets: () => Promise<readonly string[]>;
}

/** Tells the address a request came from, or throws what a request is answered that came around the CDN. */
export type LocateViewer = (headers: RequestHeaders, sourceIp: string) => Promise<string>;

/** Without a CDN no header is believed; with one, its header is, on a request that carries its secret, and no other is served. */
export function createLocateViewer({ edgeHeader, edgeSecrets }: Edge): LocateViewer {
  if (edgeHeader === undefined) {
    return async (_headers, sourceIp) => {
      if (isIP(sourceIp) === 0) throw noViewerAddress();
      return sourceIp;
    };
  }
  return async (headers) => {
    if (!provesItself(headers[originSecretHeader], await edgeSecrets())) {
      throw new GatewayError('not_found', 'There is nothing here.', { reason: 'around_edge' });
    }
    const address = readAddress(edgeHeader, headers[edgeHeader]?.trim() ?? '');
    if (address !== undefined) return address;
    throw noViewerAddress();
  };
}

/** Else all whose address is unknown would be one network, and share one allowance. */
function noViewerAddress(): GatewayError {
  return new GatewayError('internal_error', 'The gateway could not tell where this request came from.', {
    reason: 'no_viewer_address',
  });
}

/** Takes the same time whatever the secret is. */
function provesItself(given: string | undefined, secrets: readonly string[]): boolean {
  if (!given) return false;
  return secrets.filter((secret) => timingSafeEqual(digest(given), digest(secret))).length > 0;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Every CDN writes a bare address, but for CloudFront, which appends a port, also where that makes a valid IPv6 address. */
function readAddress(header: string, value: string): string | undefined {
  const address = header === cloudFrontHeader ? /^(.*):\d+$/.exec(value)?.[1] : value;
  return address !== undefined && isIP(address) !== 0 ? address : undefined;
}
