import type { GatewayError } from '../errors.ts';
import type { RequestSoFar } from '../request/request.ts';

/**
 * Every metric that the gateway emits, under the names that the dashboard and the alarms read. Each has at most one dimension,
 * because every value of it is billed as a metric.
 */
export const metrics = {
  requests: { name: 'Requests', unit: 'Count' },
  /** Requests refused with an error, by its code. */
  refusals: { name: 'Refusals', unit: 'Count', dimension: 'Code' },
  /** Answers with a status of 4xx or 5xx, as Lambda counts those of a Function URL. */
  errorAnswers: { name: 'ErrorAnswers', unit: 'Count' },
  /** Agents that tried a WebSocket first and were referred to POST. Not counted as refusals. */
  webSocketTries: { name: 'WebSocketTries', unit: 'Count' },
  /** Charges refunded because of a failure. */
  refunds: { name: 'Refunds', unit: 'Count' },
  /** Charges that may stand although nobody should pay them: the store's answer to a charge or refund was lost. */
  chargesLeftStanding: { name: 'ChargesLeftStanding', unit: 'Count' },
  /** Failed attempts to reach upstreams, by the class of the failure. */
  upstreamFailures: { name: 'UpstreamFailures', unit: 'Count', dimension: 'Class' },
  /**
   * 1 for each failed try at an upstream, 0 for each other. The average is the share that failed, undiluted by requests that
   * never went upstream (refusals, scanners).
   */
  upstreamFailedTries: { name: 'UpstreamFailedTries', unit: 'Count' },
  /** Until the first event of a stream; and until the end of any answer from an upstream. */
  timeToFirstByte: { name: 'TimeToFirstByte', unit: 'Milliseconds' },
  duration: { name: 'Duration', unit: 'Milliseconds' },
  /** As the upstream bills them. Input includes what was read from or written to its cache, output includes reasoning. */
  inputTokens: { name: 'InputTokens', unit: 'Count' },
  cacheReadTokens: { name: 'CacheReadTokens', unit: 'Count' },
  cacheWriteTokens: { name: 'CacheWriteTokens', unit: 'Count' },
  outputTokens: { name: 'OutputTokens', unit: 'Count' },
  reasoningTokens: { name: 'ReasoningTokens', unit: 'Count' },
  /** Complete answers without token counts. */
  answersWithoutUsage: { name: 'AnswersWithoutUsage', unit: 'Count' },
  /** Requests of which a translation left something out. */
  leftOut: { name: 'LeftOut', unit: 'Count' },
  /** How much of the deployment's limits is used, as seen by each request that counts towards them. */
  dailyLimitUsed: { name: 'DailyLimitUsed', unit: 'Percent' },
  guestDailyLimitUsed: { name: 'GuestDailyLimitUsed', unit: 'Percent' },
  /** What answers cost, in the operator's currency, by the public model; and what caches saved of it. */
  spent: { name: 'Spent', unit: 'None', dimension: 'Model' },
  savedByCaches: { name: 'SavedByCaches', unit: 'None' },
  /** How much of the day's spending limit is spent, as seen by each request that is checked against it. */
  spendShare: { name: 'SpendShare', unit: 'Percent' },
  /** Reservations whose settlement could not be written: they count against a budget as if they had been spent. */
  budgetsLeftStanding: { name: 'BudgetLeftStanding', unit: 'Count' },
  /** Reservations that were lost with their process, by the write that found them. */
  lostReservations: { name: 'LostReservations', unit: 'Count' },
  coldStarts: { name: 'ColdStarts', unit: 'Count' },
  /** Failures of the gateway itself or its store. */
  gatewayErrors: { name: 'GatewayErrors', unit: 'Count' },
  /** Failed readings of a secret; its last known value stays in use. */
  secretsNotRefreshed: { name: 'SecretsNotRefreshed', unit: 'Count' },
  /** The company's sign-in could not be reached, or not be trusted. */
  signInsFailed: { name: 'SignInsFailed', unit: 'Count' },
} as const;

/** What the canary emits. */
export const canaryMetrics = {
  /** Failed checks of one run. */
  failures: { name: 'CanaryFailures', unit: 'Count' },
} as const;

type Metric = (typeof metrics)[keyof typeof metrics] | (typeof canaryMetrics)[keyof typeof canaryMetrics];

export interface Measurement {
  readonly metric: Metric;
  readonly value: number;
  /** The value of the metric's dimension, if it has one. */
  readonly of?: string;
}

/**
 * The fields that let CloudWatch extract metrics from a log line, so that measuring takes no call. Written by hand because it is
 * short: a library would keep state between requests, print lines of its own, and add to every cold start.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function embedMetrics(
  namespace: string,
  time: number,
  measurements: readonly Measurement[],
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  const plain: object[] = [];
  const directives: object[] = [];
  const direct = (dimensions: readonly string[], definitions: readonly object[]) =>
    directives.push({ Namespace: namespace, Dimensions: [dimensions], Metrics: definitions });
  for (const { metric, value, of } of measurements) {
    const definition = { Name: metric.name, Unit: metric.unit };
    members[metric.name] = value;
    if ('dimension' in metric) {
      members[metric.dimension] = of;
      direct([metric.dimension], [definition]);
    } else plain.push(definition);
  }
  if (plain.length > 0) direct([], plain);
  if (directives.length === 0) return {};
  return { _aws: { Timestamp: time, CloudWatchMetrics: directives }, ...members };
}

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

function measureSpending({ call, outcome: { spending } }: RequestSoFar): Measurement[] {
  if (!spending || !call) return [];
  return [
    { metric: metrics.spent, value: toCurrency(spending.cost), of: call.model.id },
    { metric: metrics.savedByCaches, value: toCurrency(spending.savedByCaches) },
  ];
}

/** For logs and metrics, which need not be exact. */
export const toCurrency = (micros: number): number => micros / 1_000_000;

/** How much of the deployment's limits is used; a limit that refuses is at 100 % or more. */
function measureLimits({ limitsUsed, outcome: { error, spendShare } }: RequestSoFar): Measurement[] {
  const used = { ...limitsUsed, spend_limit: spendShare };
  return limitMetrics.flatMap(([limit, metric]) => {
    const value = error?.reason === limit ? Math.max(100, used[limit] ?? 0) : used[limit];
    return value === undefined ? [] : [{ metric, value }];
  });
}

/** By the `reason` in the log of their refusals. */
const limitMetrics = [
  ['daily_limit', metrics.dailyLimitUsed],
  ['guest_daily_limit', metrics.guestDailyLimitUsed],
  ['spend_limit', metrics.spendShare],
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
  if (route.kind !== 'inference' || route.endpoint.countsTokens || end !== undefined || !exchange) return false;
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

const intended: ReadonlySet<string> = new Set(['stopping', 'stopped', ...limitMetrics.map(([limit]) => limit)]);
