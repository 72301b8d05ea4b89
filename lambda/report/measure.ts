import type { GatewayError } from '../errors.ts';
import type { RequestSoFar } from '../request/request.ts';
import { type Measurement, metrics } from './metrics.ts';

/** What a finished request adds to the metrics. Preflights are not counted. */
export function measureRequest(request: RequestSoFar, status: number, duration: number): Measurement[] {
  const { route, outcome } = request;
  const { error, end, exchange } = outcome;
  if (route.kind === 'preflight') return [];
  const measurements: Measurement[] = [{ metric: metrics.requests, value: 1 }];
  if (status >= 400) measurements.push({ metric: metrics.errorAnswers, value: 1 });
  if (request.coldStart) measurements.push({ metric: metrics.coldStarts, value: 1 });
  measurements.push(...measureLimits(request), ...measureSpending(request));
  // With REFUND_REFUSALS a refused body is refunded too, but that is no failure.
  if (outcome.refunded && error && error.status >= 500 && !isIntended(error))
    measurements.push({ metric: metrics.refunds, value: 1 });
  if (error?.code === 'upgrade_required') measurements.push({ metric: metrics.webSocketTries, value: 1 });
  else if (error && end === 'refused') measurements.push({ metric: metrics.refusals, value: 1, of: error.code });
  if (exchange?.failure !== undefined) measurements.push(countFailure(exchange.failure));
  else if (isOwnFault(request)) measurements.push({ metric: metrics.gatewayErrors, value: 1 });
  if (!exchange) return measurements;

  const { timeToFirstByte, usage, tries, failure, leftOut } = exchange;
  // The last try. Earlier ones were counted when they failed.
  if (tries > 0) measurements.push(countTry(failure !== undefined));
  measurements.push({ metric: metrics.duration, value: duration });
  // Only streams have one: a plain answer is sent whole.
  if (timeToFirstByte !== undefined) measurements.push({ metric: metrics.timeToFirstByte, value: timeToFirstByte });
  for (const [kind, metric] of tokenMetrics) {
    const value = usage[kind];
    if (value !== undefined) measurements.push({ metric, value });
  }
  if (leftOut !== undefined) measurements.push({ metric: metrics.leftOut, value: 1 });
  if (lacksUsage(request)) measurements.push({ metric: metrics.answersWithoutUsage, value: 1 });
  return measurements;
}

function measureSpending({ call, outcome: { spending, spendShare, error } }: RequestSoFar): Measurement[] {
  const share = error?.reason === spendLimit ? Math.max(100, spendShare ?? 0) : spendShare;
  return [
    ...(spending && call
      ? [
          { metric: metrics.spent, value: toCurrency(spending.cost), of: call.model.id },
          { metric: metrics.savedByCaches, value: toCurrency(spending.savedByCaches) },
        ]
      : []),
    ...(share === undefined ? [] : [{ metric: metrics.spendShare, value: share }]),
  ];
}

/** For logs and metrics, which need not be exact. */
export const toCurrency = (micros: number): number => micros / 1_000_000;

/** The `reason` in the log of a refusal by `SPEND_LIMIT`. */
const spendLimit = 'spend_limit';

/** How much of the deployment's limits is used; a limit that refuses is at 100 %. */
function measureLimits({ limitsUsed = {}, outcome: { error } }: RequestSoFar): Measurement[] {
  return limitMetrics.flatMap(([limit, metric]) => {
    const value = error?.reason === limit ? 100 : limitsUsed[limit];
    return value === undefined ? [] : [{ metric, value }];
  });
}

const limitMetrics = [
  ['daily_limit', metrics.dailyLimitUsed],
  ['guest_daily_limit', metrics.guestDailyLimitUsed],
] as const;

const tokenMetrics = [
  ['input', metrics.inputTokens],
  ['cacheRead', metrics.cacheReadTokens],
  ['cacheWrite', metrics.cacheWriteTokens],
  ['output', metrics.outputTokens],
  ['reasoning', metrics.reasoningTokens],
] as const;

/** Whether a complete answer came without token counts. */
export function lacksUsage({ route, outcome: { end, exchange } }: RequestSoFar): boolean {
  if (route.kind !== 'inference' || !route.endpoint.charged || end !== undefined || !exchange) return false;
  return exchange.usage.input === undefined && exchange.usage.output === undefined;
}

/** A failed try, after which the request goes on to another. */
export function measureFailedTry(failureClass: string): Measurement[] {
  return [countFailure(failureClass), countTry(true)];
}

function countFailure(failureClass: string): Measurement {
  return { metric: metrics.upstreamFailures, value: 1, of: failureClass };
}

function countTry(failed: boolean): Measurement {
  return { metric: metrics.upstreamFailedTries, value: failed ? 1 : 0 };
}

/** Whether the gateway, its store or its operator caused the error, rather than an upstream or the caller. */
function isOwnFault({ outcome: { error }, identity }: RequestSoFar): boolean {
  if (error && isIntended(error)) return false;
  // For an identified caller the upstream's keys are missing. Otherwise no key was ever issued, which any scanner can provoke.
  if (error?.code === 'unconfigured') return identity !== undefined;
  return error?.isOwnFault ?? false;
}

/** Refusals that the operator asked for are not failures. */
export function isIntended({ reason }: GatewayError): boolean {
  return reason !== undefined && intended.has(reason);
}

const intended: ReadonlySet<string> = new Set([
  ...['stopping', 'stopped', spendLimit],
  ...limitMetrics.map(([limit]) => limit),
]);
