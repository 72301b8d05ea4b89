import { randomUUID } from 'node:crypto';
import { corsHeaders } from './cors.ts';
import type { GatewayRequest } from './gateway-request.ts';

export type HeaderNames = Readonly<ReturnType<typeof headerNames>>;

/** What the gateway's own headers begin with. */
export function headerPrefix(serviceName: string): string {
  return `X-${serviceName.charAt(0).toUpperCase()}${serviceName.slice(1)}`;
}

/** The names of the gateway's own headers, which contain the service's name: `X-Svc-Remaining`. */
export function headerNames(serviceName: string) {
  const prefix = headerPrefix(serviceName);
  return {
    remaining: `${prefix}-Remaining`,
    limit: `${prefix}-Limit`,
    reset: `${prefix}-Reset`,
    error: `${prefix}-Error`,
  };
}

/** Opaque, and different for each request; clients and operators find it in `x-request-id` and in the log. */
export const createRequestId = () => `req_${randomUUID().replaceAll('-', '')}`;

/** The headers of every response, whatever its outcome. */
export function gatewayHeaders(
  { id, headers, figures }: GatewayRequest,
  names: HeaderNames,
  corsOrigins: readonly string[],
): Record<string, string> {
  const { limit, remaining, resetSeconds } = figures ?? { limit: 0, remaining: 0 };
  const exposed = [...Object.values(names), 'retry-after', 'x-should-retry', 'x-request-id', 'request-id'].join(', ');
  return {
    [names.remaining]: String(remaining),
    [names.limit]: String(limit),
    ...(resetSeconds !== undefined && { [names.reset]: String(resetSeconds) }),
    ...corsHeaders(headers, corsOrigins, exposed),
    'cache-control': 'no-store',
    'x-request-id': id,
    'request-id': id,
  };
}
