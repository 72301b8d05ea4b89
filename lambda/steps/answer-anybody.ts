import { GatewayError } from '../errors.ts';
import { keyHeaders } from '../identity/credential.ts';
import { correctPath } from '../request/correct-path.ts';
import type { GatewayResponse, IncomingRequest } from '../request/incoming-request.ts';
import type { RequestSoFar } from '../request/request.ts';

/**
 * Answers what needs no key: preflights, health checks, unknown paths, wrong methods.
 *
 * Needs: the route. Fails: 404 `not_found`, or the error that the router found (405, 426 and so on).
 */
export function answerAnybody({
  route,
  path,
  headers,
}: Pick<RequestSoFar, 'route' | 'path' | 'headers'>): GatewayResponse {
  if (route.kind === 'notFound') throw notFound(path, route.known);
  if (route.kind === 'refused') throw route.error;
  return {
    statusCode: 204,
    headers: route.kind === 'preflight' ? preflightHeaders(headers, route.allow) : {},
    body: '',
  };
}

const usualHeaders = [...keyHeaders, 'content-type', 'anthropic-version', 'anthropic-beta'].join(', ');

/** The extra headers of a preflight response. A page may send any header that it asks for. */
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

/** Explains a path that is almost a known one; lists the endpoints for any other. */
function explainMistake(path: string, known: readonly string[]): string {
  const { corrected, faults } = correctPath(path);
  if (!known.includes(corrected)) return `. The endpoints are ${known.join(', ')}`;
  return `: it has ${faults.join(' and ')}. Use ${corrected}`;
}

/** Names no vendor or SDK: the operator may be hiding its upstream's. */
function notFound(path: string, known: readonly string[]): GatewayError {
  const message = `There is nothing at this path${explainMistake(path, known)}. A client that adds /v1 itself needs the base URL without it; any other needs one that ends in /v1.`;
  return new GatewayError('not_found', message);
}
