import type { Reply } from './probe.ts';

/** The gateway's own, all of which a client may see. */
const own =
  /^(content-type|retry-after|x-should-retry|allow|cache-control|x-request-id|request-id|vary|access-control-[a-z-]+)$/;

/** What HTTP servers, Lambda and CloudFront add. */
const platforms =
  /^(date|connection|keep-alive|transfer-encoding|content-length|content-encoding|age|via|x-cache|alt-svc|server-timing|x-amzn?-[a-z0-9-]+|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|referrer-policy|content-security-policy)$/i;

/** A header that tells of something behind the gateway; undefined where there is none. */
export function findForeignHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  for (const [name, value] of headers) {
    const isPlatforms = platforms.test(name) || (name === 'server' && value === 'CloudFront');
    if (!own.test(name) && !isPlatforms && !name.startsWith(headerPrefix)) return name;
  }
  return undefined;
}

/** What is missing of the headers that stand on every reply; undefined where nothing is. */
export function findMissingHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  for (const name of [`${headerPrefix}remaining`, `${headerPrefix}limit`]) {
    const value = headers.get(name);
    if (!/^\d+$/.test(value ?? '')) return `${name} is ${value ?? 'missing'}`;
  }
  const id = headers.get('x-request-id');
  if (!id) return 'x-request-id is missing';
  if (headers.get('request-id') !== id) return 'request-id is not x-request-id';
  const caching = headers.get('cache-control');
  return caching === 'no-store' ? undefined : `cache-control is ${caching ?? 'missing'}`;
}
