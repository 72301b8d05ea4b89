import { isProviderField } from '../../lambda/dialects/model/envelope.ts';
import { textual } from '../../lambda/dialects/model/places.ts';
import { createScrubber } from '../../lambda/hiding/scrub.ts';
import { headerNames } from '../../lambda/request/headers.ts';
import { membersIn, type Reply, readBody } from './probe.ts';

/** The gateway's own headers. */
const own =
  /^(content-type|retry-after|x-should-retry|allow|accept-encoding|cache-control|x-request-id|request-id|vary|access-control-[a-z-]+)$/;

/**
 * Headers that an HTTP server, Lambda's Function URL, a web function's endpoint and CloudFront add by themselves. They reveal
 * that the gateway runs on AWS, as its address does, but nothing about the upstream. Other AWS headers aren't allowed:
 * `x-amzn-bedrock-…` names an upstream, and `x-amzn-remapped-…` carries a header that the function set.
 */
const platforms =
  /^(date|connection|keep-alive|transfer-encoding|content-length|age|x-cache|alt-svc|lambda-web-(request-id|endpoint-name)|x-amzn-(requestid|trace-id|errortype)|x-amz-cf-(id|pop)|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|referrer-policy|content-security-policy)$/;

/** Headers that other proxies add too, so they are allowed only with CloudFront's values. */
const cloudFronts: Readonly<Record<string, RegExp>> = {
  via: /^\d(\.\d)? [0-9a-f]+\.cloudfront\.net \(CloudFront\)$/,
  server: /^CloudFront$/,
  // CloudFront compresses if the client accepts it. Compressed streams are reported by the stream checks.
  'content-encoding': /^(gzip|br)$/,
};

export function findForeignHeader({ headers }: Reply, headerPrefix: string): string | undefined {
  const serviceName = headerPrefix.slice('x-'.length, -1);
  const named = Object.values(headerNames(serviceName)).map((name) => name.toLowerCase());
  for (const [name, value] of headers) {
    const isPlatforms = platforms.test(name) || cloudFronts[name]?.test(value);
    if (!own.test(name) && !isPlatforms && !named.includes(name)) return `${name}: ${value}`;
  }
  return undefined;
}

const stackTrace = /\bat [^"]{0,200}\.[cm]?[jt]s:\d+(:\d+)?/;

/** The first trace of the upstream in a body: a field or comment that names it, a model that is not public, a stack trace. */
export function findTrace(reply: Reply, publicModels: readonly string[]): string | undefined {
  const { values, comments } = readBody(reply);
  const comment = comments.find((text) => text.trim() !== 'keep-alive');
  if (comment !== undefined) return `a comment says ${comment.trim().slice(0, 100)}`;
  for (const { place, name, value } of values.flatMap((one) => membersIn(one))) {
    if (name !== 'model' && isProviderField(name)) return `${place} is there`;
    if (name === 'model' && typeof value === 'string' && !publicModels.includes(value)) return `${place} is ${value}`;
  }
  const [line] = reply.status === 200 ? [] : (stackTrace.exec(reply.text) ?? []);
  return line === undefined ? undefined : `a stack trace: ${line}`;
}

/** Values that machines read back. The gateway never changes them, even if they contain names. */
const untouched = /(^|\.)((signature|encrypted_content|arguments|partial_json)(\.|$)|data$)/;

/** Shorter names occur in random ids by chance. */
const leastInHeaders = 5;

/** Searches replies for names, by the gateway's own rules. Returns the place and the name. */
export function createNameFinder(
  names: readonly string[],
  hideInText: 'names' | 'none' = 'names',
): (reply: Reply) => string | undefined {
  const inBodies = createScrubber(names, '');
  const inHeaders = createScrubber(
    names.filter(({ length }) => length >= leastInHeaders),
    '',
  );
  return (reply) => {
    for (const [name, value] of reply.headers) {
      const hit = name.startsWith('access-control-') ? undefined : inHeaders.find(`${name}: ${value}`);
      if (hit) return `${name}: ${value}`.slice(0, 100);
    }
    for (const [place, text] of textsIn(reply)) {
      if (hideInText === 'none' && reply.status === 200 && isWritten(place)) continue;
      const hit = inBodies.find(text);
      if (hit) return `${place} has ${text.slice(hit.start, hit.end)}`;
    }
    return undefined;
  };
}

/** Whether the model wrote the text at this place. */
function isWritten(place: string): boolean {
  const name = place.split('.').findLast((step) => !/^\d*$/.test(step)) ?? '';
  return name.endsWith('delta') || textual.test(name);
}

/** All texts of a body by their place. Deltas of a stream are joined, so that each text is complete. */
function textsIn(reply: Reply): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const add = (place: string, text: string) => texts.set(place, (texts.get(place) ?? '') + text);
  const { values, comments } = readBody(reply);
  for (const { place, name, value } of values.flatMap((one) => membersIn(one))) {
    if (untouched.test(place)) continue;
    texts.set(`a key: ${name}`, name);
    if (typeof value === 'string') add(place, value);
  }
  for (const comment of comments) texts.set(`a comment: ${comment}`, comment);
  if (values.every((value) => typeof value !== 'object')) add('the body', reply.text);
  return texts;
}
