import { GatewayError } from '../errors.ts';
import { keyHeaders } from '../identity/credential.ts';
import type { GatewayResponse, IncomingRequest } from '../request/incoming-request.ts';
import type { RequestSoFar } from '../request/request.ts';

/** Answers preflights, health checks, unknown paths, wrong methods. */
export function answerAnybody({
  route,
  path,
  headers,
}: Pick<RequestSoFar, 'route' | 'path' | 'headers'>): GatewayResponse {
  if (route.kind === 'notFound') throw nothingAt(path, route.known);
  if (route.kind === 'refused') throw route.error;
  return {
    statusCode: 204,
    headers: route.kind === 'preflight' ? preflightHeaders(headers, route.allow) : {},
    body: '',
  };
}

const usualHeaders = [...keyHeaders, 'content-type', 'anthropic-version', 'anthropic-beta'].join(', ');

/** The additional headers of the answer to OPTIONS: a page may send any header that it asks for. */
export function preflightHeaders(
  requestHeaders: IncomingRequest['headers'],
  allow: string | undefined,
): Record<string, string> {
  const wanted = requestHeaders['access-control-request-headers'] ?? '';
  return {
    ...(allow !== undefined && { allow }),
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': /^[\w!#$%&'*+.^`|~ ,-]+$/.test(wanted) ? wanted : usualHeaders,
    'access-control-max-age': '7200',
  };
}

/** The mistakes that clients make when they append a path to a base URL. */
const slips: readonly (readonly [RegExp, string, string])[] = [
  // With the look-behind a long run of slashes is tried only once.
  [/(?<!\/)\/+$/, '', 'a slash too many at its end'],
  [/\/{2,}/g, '/', 'a slash too many'],
  [/^(\/v1){2,}(?=\/)/, '/v1', '/v1 more than once'],
  [/^(?!\/v1\/)/, '/v1', 'no /v1'],
];

/** Says what is wrong with a path that is almost a known one, or else which paths there are. */
function explainSlip(path: string, known: readonly string[]): string {
  const faults: string[] = [];
  let mended = path;
  for (const [slip, instead, fault] of slips) {
    const before = mended;
    mended = mended.replace(slip, instead);
    if (mended !== before) faults.push(fault);
  }
  if (!known.includes(mended)) return `. The endpoints are ${known.join(', ')}`;
  return `: it has ${faults.join(' and ')}. Use ${mended}`;
}

/** The refusal of a path where there is nothing. It names no vendor: the operator may hide its upstream's. */
function nothingAt(path: string, known: readonly string[]): GatewayError {
  const message = `There is nothing at this path${explainSlip(path, known)}. A client that adds /v1 itself needs the base URL without it; any other needs one that ends in /v1.`;
  return new GatewayError('not_found', message);
}
