import { keyHeaders } from '../identity/credentials.ts';
import type { Call } from './call.ts';

type Headers = Record<string, string>;
type RequestHeaders = Call['headers'];

/** The headers that let a page read the answer. */
export function corsHeaders(requestHeaders: RequestHeaders, origins: readonly string[], exposed: string): Headers {
  if (origins.includes('*')) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed };
  const { origin } = requestHeaders;
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' };
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' };
}

const usualHeaders = [...keyHeaders, 'content-type', 'anthropic-version', 'anthropic-beta'].join(', ');

/** The additional headers of a preflight's answer: a page may send any header that it asks for. */
export function preflightHeaders(requestHeaders: RequestHeaders): Headers {
  const wanted = requestHeaders['access-control-request-headers'] ?? '';
  return {
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': /^[\w!#$%&'*+.^`|~ ,-]+$/.test(wanted) ? wanted : usualHeaders,
    'access-control-max-age': '7200',
  };
}

/** Whether a request is a CORS preflight. */
export function isPreflight(method: string, requestHeaders: RequestHeaders): boolean {
  return method === 'OPTIONS' && requestHeaders['access-control-request-method'] !== undefined;
}
