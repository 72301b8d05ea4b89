const inUnit = (unit: string) => (name: string) => ({ name, unit });
const count = inUnit('Count');
const percent = inUnit('Percent');
const milliseconds = inUnit('Milliseconds');
const money = inUnit('None');

/**
 * Every metric that the gateway emits, under the names that the dashboard and the alarms read. Each has at most one dimension,
 * because every value of it is billed as a metric.
 */
export const metrics = {
  requests: count('Requests'),
  /** Requests refused with an error, by its code. */
  refusals: { ...count('Refusals'), dimension: 'Code' },
  /** Answers with a status of 4xx or 5xx, as Lambda counts those of a Function URL. */
  errorAnswers: count('ErrorAnswers'),
  /** Agents that tried a WebSocket first and were referred to POST. Not counted as refusals. */
  webSocketTries: count('WebSocketTries'),
  /** Charges refunded because of a failure. */
  refunds: count('Refunds'),
  /** Charges that may stand although nobody should pay them: the store's answer to a charge or refund was lost. */
  chargesLeftStanding: count('ChargesLeftStanding'),
  /** Failed attempts to reach upstreams, by the class of the failure. */
  upstreamFailures: { ...count('UpstreamFailures'), dimension: 'Class' },
  /**
   * 1 for each failed try at an upstream, 0 for each other. The average is the share that failed, undiluted by requests that
   * never went upstream (refusals, scanners).
   */
  upstreamFailedTries: count('UpstreamFailedTries'),
  /** Until the first event of a stream; and until the end of any answer from an upstream. */
  timeToFirstByte: milliseconds('TimeToFirstByte'),
  duration: milliseconds('Duration'),
  /** As the upstream bills them. Input includes what was read from or written to its cache, output includes reasoning. */
  inputTokens: count('InputTokens'),
  cacheReadTokens: count('CacheReadTokens'),
  cacheWriteTokens: count('CacheWriteTokens'),
  outputTokens: count('OutputTokens'),
  reasoningTokens: count('ReasoningTokens'),
  /** Complete answers without token counts. */
  answersWithoutUsage: count('AnswersWithoutUsage'),
  /** Requests of which a translation left something out. */
  leftOut: count('LeftOut'),
  /** How much of the deployment's limits is used, as seen by each request that counts towards them. */
  dailyLimitUsed: percent('DailyLimitUsed'),
  guestDailyLimitUsed: percent('GuestDailyLimitUsed'),
  /** What answers cost, in the operator's currency, by the public model; and what caches saved of it. */
  spent: { ...money('Spent'), dimension: 'Model' },
  savedByCaches: money('SavedByCaches'),
  /** How much of the day's spending limit is spent, as seen by each request that is checked against it. */
  spendShare: percent('SpendShare'),
  /** Reservations whose settlement could not be written: they count against a budget as if they had been spent. */
  budgetsLeftStanding: count('BudgetLeftStanding'),
  /** Budgets of which four fifths are spent: each counts once in its window. */
  budgetsNearlySpent: count('BudgetsNearlySpent'),
  /** Reservations that were lost with their process, by the write that found them. */
  lostReservations: count('LostReservations'),
  coldStarts: count('ColdStarts'),
  /** Failures of the gateway itself or its store. */
  gatewayErrors: count('GatewayErrors'),
  /** Failed readings of a secret; its last known value stays in use. */
  secretsNotRefreshed: count('SecretsNotRefreshed'),
  /** The company's sign-in could not be reached, or not be trusted. */
  signInsFailed: count('SignInsFailed'),
} as const;

/** What the canary emits. */
export const canaryMetrics = {
  /** Failed checks of one run. */
  failures: count('CanaryFailures'),
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
