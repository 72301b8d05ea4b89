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
