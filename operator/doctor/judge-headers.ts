import { headerNames } from '../../lambda/request/headers.ts';
import { type Finding, fail, ok } from '../examination/row.ts';
import type { Reply } from './probe.ts';

/** The gateway's own, all of which a client may see. */
const own =
  /^(content-type|retry-after|x-should-retry|allow|accept-encoding|cache-control|x-request-id|request-id|vary|access-control-[a-z-]+)$/;

/**
 * Headers that an HTTP server, Lambda's Function URL, a web function's endpoint and CloudFront add by themselves. They reveal
 * that the gateway runs on AWS, as its address does, and nothing about what is behind it. No other header of AWS is among them:
 * `x-amzn-bedrock-…` names an upstream, and `x-amzn-remapped-…` carries what the function itself had set.
 */
const platforms =
  /^(date|connection|keep-alive|transfer-encoding|content-length|age|x-cache|alt-svc|lambda-web-(request-id|endpoint-name)|x-amzn-(requestid|trace-id|errortype)|x-amz-cf-(id|pop)|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|referrer-policy|content-security-policy)$/;

/** Headers that CloudFront adds, and other proxies too: only its own values pass. */
const cloudFronts: Readonly<Record<string, RegExp>> = {
  via: /^\d(\.\d)? [0-9a-f]+\.cloudfront\.net \(CloudFront\)$/,
  server: /^CloudFront$/,
  // It compresses for whoever accepts it; what a stream's means is said of the stream.
  'content-encoding': /^(gzip|br)$/,
};

/** A header that reveals something behind the gateway; undefined if there is none. */
export function findForeignHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  const serviceName = headerPrefix.slice('x-'.length, -1);
  const named = Object.values(headerNames(serviceName)).map((name) => name.toLowerCase());
  for (const [name, value] of headers) {
    const isPlatforms = platforms.test(name) || cloudFronts[name]?.test(value);
    if (!own.test(name) && !isPlatforms && !named.includes(name)) return `${name}: ${value}`;
  }
  return undefined;
}

/** Which of the headers of every reply are missing; undefined if none is. */
export function findMissingHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  for (const name of [`${headerPrefix}remaining`, `${headerPrefix}limit`]) {
    const value = headers.get(name);
    if (!/^\d+$/.test(value ?? '')) return `${name} is ${value ?? 'missing'}`;
  }
  const id = headers.get('x-request-id');
  if (!id) return 'x-request-id is missing';
  if (headers.get('request-id') !== id) return 'request-id is not x-request-id';
  const caching = headers.get('cache-control');
  if (caching !== 'no-store') return `cache-control is ${caching ?? 'missing'}`;
  // If only listed origins may read, an answer without an origin says at least that it matters.
  const forPages = headers.has('access-control-allow-origin') || /\borigin\b/i.test(headers.get('vary') ?? '');
  return forPages ? undefined : 'access-control-allow-origin is missing';
}

/** Whether each request has an id of its own: a shared one would find neither in the log. */
export function judgeRequestIds(replies: readonly Reply[]): Finding {
  const seen = new Map<string, string>();
  for (const { headers, title } of replies) {
    const id = headers.get('x-request-id');
    if (id === null) continue;
    const other = seen.get(id);
    if (other !== undefined) return fail(`${other} and ${title} share ${id}`);
    seen.set(id, title);
  }
  return seen.size > 1 ? ok(`${seen.size} ids`) : fail('no reply has one');
}
