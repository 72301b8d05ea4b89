import { randomUUID } from 'node:crypto';
import { formatAmount } from '../budget/money.ts';
import { secondsUntil } from '../budget/time.ts';
import type { QuotaSnapshot } from '../quota/snapshot.ts';
import type { Config } from '../settings/config.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { rateLimitHeaders } from './rate-limits.ts';
import type { Arrived } from './request.ts';

export type HeaderNames = Readonly<ReturnType<typeof headerNames>>;

/** The prefix of the gateway's own headers: `X-Svc`. */
export function headerPrefix(serviceName: string): string {
  return `X-${serviceName.charAt(0).toUpperCase()}${serviceName.slice(1)}`;
}

/** The gateway's own headers, named after the service: `X-Svc-Remaining`. */
export function headerNames(serviceName: string) {
  const prefix = headerPrefix(serviceName);
  return {
    remaining: `${prefix}-Remaining`,
    limit: `${prefix}-Limit`,
    reset: `${prefix}-Reset`,
    error: `${prefix}-Error`,
    budgetLimit: `${prefix}-Budget-Limit`,
    budgetRemaining: `${prefix}-Budget-Remaining`,
    budgetReset: `${prefix}-Budget-Reset`,
    leftOut: `${prefix}-Left-Out`,
  };
}

/** Opaque and unique. Clients see it as `x-request-id`, operators in the log. */
export const createRequestId = () => `req_${randomUUID().replaceAll('-', '')}`;

export interface HeaderSettings extends Pick<Config['request'], 'corsOrigins' | 'rateLimitHeaders'> {
  readonly names: HeaderNames;
  readonly now: () => number;
}

/** The headers of every response, whatever its outcome. */
export function gatewayHeaders(
  { id, headers, outcome, route }: Pick<Arrived, 'id' | 'headers' | 'outcome' | 'route'>,
  { names, corsOrigins, rateLimitHeaders: showsRates, now }: HeaderSettings,
): Record<string, string> {
  const snapshot: QuotaSnapshot = outcome.snapshot ?? { limit: 0, remaining: 0 };
  const { limit, remaining, resetAt, budget } = snapshot;
  const time = now();
  const rates = showsRates ? rateLimitHeaders(snapshot, route, time) : {};
  const { leftOut } = outcome.attempt ?? {};
  const exposed = [
    ...Object.values(names),
    ...Object.keys(rates),
    'retry-after',
    'x-should-retry',
    'x-request-id',
    'request-id',
  ].join(', ');
  return {
    [names.remaining]: String(remaining),
    [names.limit]: String(limit),
    ...(leftOut !== undefined && { [names.leftOut]: leftOut }),
    ...(resetAt !== undefined && { [names.reset]: String(secondsUntil(resetAt, time)) }),
    ...(budget && {
      [names.budgetLimit]: formatAmount(budget.limit),
      [names.budgetRemaining]: formatAmount(budget.remaining),
      [names.budgetReset]: String(secondsUntil(budget.resetAt, time)),
    }),
    ...rates,
    ...corsHeaders(headers, corsOrigins, exposed),
    'cache-control': 'no-store',
    'x-request-id': id,
    'request-id': id,
  };
}

type Headers = Record<string, string>;
type RequestHeaders = IncomingRequest['headers'];

/** The CORS headers that let a web page read the response. */
function corsHeaders(requestHeaders: RequestHeaders, origins: readonly string[], exposed: string): Headers {
  if (origins.includes('*')) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed };
  const { origin } = requestHeaders;
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' };
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' };
}
