import { catalogue, type GatewayError } from '../errors.ts';
import type { ExchangeRecord, RequestSoFar } from '../request/request.ts';

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
  /** Budgets of which four fifths are spent: each counts once in its window. */
  budgetsNearlySpent: { name: 'BudgetsNearlySpent', unit: 'Count' },
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

const all = { ...metrics, ...canaryMetrics };

/** Values by metric; of a metric with a dimension, by the dimension's value. What is undefined was not measured. */
export type Measured = { readonly [Name in keyof typeof all]?: Value<(typeof all)[Name]> | undefined };
type Value<Metric> = Metric extends { readonly dimension: string } ? Readonly<Record<string, number>> : number;

/**
 * The fields that let CloudWatch extract metrics from a log line, so that measuring takes no call. Written by hand because it is
 * short: a library would keep state between requests, print lines of its own, and add to every cold start.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function embedMetrics(namespace: string, time: number, measured: Measured): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  const plain: object[] = [];
  const directives: object[] = [];
  const direct = (dimensions: readonly string[], definitions: readonly object[]) =>
    directives.push({ Namespace: namespace, Dimensions: [dimensions], Metrics: definitions });
  for (const key of Object.keys(measured) as (keyof Measured)[]) {
    const measurement = measured[key];
    if (measurement === undefined) continue;
    const metric = all[key];
    const definition = { Name: metric.name, Unit: metric.unit };
    if (typeof measurement === 'number') {
      members[metric.name] = measurement;
      plain.push(definition);
    } else if ('dimension' in metric) {
      const [[of, value] = []] = Object.entries(measurement);
      Object.assign(members, { [metric.name]: value, [metric.dimension]: of });
      direct([metric.dimension], [definition]);
    }
  }
  if (plain.length > 0) direct([], plain);
  if (directives.length === 0) return {};
  return { _aws: { Timestamp: time, CloudWatchMetrics: directives }, ...members };
}

const countIf = (happened: boolean | undefined): 1 | undefined => (happened ? 1 : undefined);

/** What a finished request adds to the metrics. Preflights are not counted. */
export function measureRequest(request: RequestSoFar, status: number, duration: number): Measured {
  const { route, call, limitsUsed, coldStart, outcome } = request;
  const { error, end, exchange, spending, spendShare } = outcome;
  if (route.kind === 'preflight') return {};
  const isWebSocket = error?.code === 'upgrade_required';
  const isRefusal = error && end === 'refused' && !isWebSocket;
  const failure = exchange?.failure;
  /** How much of a limit of the deployment is used; one that refuses is at 100 % or more. */
  const shareOf = (limit: string, used: number | undefined) =>
    error?.reason === limit ? Math.max(100, used ?? 0) : used;
  return {
    requests: 1,
    errorAnswers: countIf(status >= 400),
    coldStarts: countIf(coldStart),
    dailyLimitUsed: shareOf('daily_limit', limitsUsed?.daily_limit),
    guestDailyLimitUsed: shareOf('guest_daily_limit', limitsUsed?.guest_daily_limit),
    spendShare: shareOf('spend_limit', spendShare),
    ...(spending &&
      call && {
        spent: { [call.model.id]: toCurrency(spending.cost) },
        savedByCaches: toCurrency(spending.savedByCaches),
      }),
    // With REFUND_REFUSALS a refused body is refunded too, but that is no failure.
    refunds: countIf(outcome.refunded && error && error.status >= 500 && !isIntended(error)),
    webSocketTries: countIf(isWebSocket),
    ...(isRefusal && { refusals: { [error.code]: 1 } }),
    ...(failure !== undefined
      ? { upstreamFailures: { [failure]: 1 } }
      : { gatewayErrors: countIf(isOwnFault(request)) }),
    ...(exchange && measureExchange(exchange, duration)),
    answersWithoutUsage: countIf(lacksUsage(request)),
  };
}

function measureExchange(
  { timeToFirstByte, usage, tries, failure, leftOut }: ExchangeRecord,
  duration: number,
): Measured {
  return {
    // The last try. Earlier ones were counted when they failed.
    ...(tries > 0 && { upstreamFailedTries: failure === undefined ? 0 : 1 }),
    duration,
    // Only streams have one: a plain answer is sent whole.
    timeToFirstByte,
    ...tokensOf(usage),
    leftOut: countIf(leftOut !== undefined),
  };
}

/** By the names that both the log and the metrics have for them. */
export function tokensOf({ input, cacheRead, cacheWrite, output, reasoning }: ExchangeRecord['usage']) {
  return {
    inputTokens: input,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: reasoning,
  };
}

/** For logs and metrics, which need not be exact. */
export const toCurrency = (micros: number): number => micros / 1_000_000;

/** Whether a complete answer came without token counts. */
export function lacksUsage({ route, outcome: { end, exchange } }: RequestSoFar): boolean {
  if (route.kind !== 'inference' || route.endpoint.countsTokens || end !== undefined || !exchange) return false;
  return exchange.usage.input === undefined && exchange.usage.output === undefined;
}

/** Whether the gateway, its store or its operator caused the error, rather than an upstream or the caller. */
function isOwnFault({ outcome: { error }, identity }: RequestSoFar): boolean {
  if (error && isIntended(error)) return false;
  // For an identified caller the upstream's keys are missing. Otherwise no key was ever issued, which any scanner can provoke.
  if (error?.code === 'unconfigured') return identity !== undefined;
  return error !== undefined && 'ownFault' in catalogue[error.code];
}

/** Refusals that the operator asked for are not failures. */
export const isIntended = ({ reason }: GatewayError): boolean => intended.includes(reason);

const intended: readonly unknown[] = ['stopping', 'stopped', 'daily_limit', 'guest_daily_limit', 'spend_limit'];
