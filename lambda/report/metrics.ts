const inUnit = (unit: string) => (name: string) => ({ name, unit });
const count = inUnit('Count');
const percent = inUnit('Percent');
const milliseconds = inUnit('Milliseconds');
const money = inUnit('None');

/**
 * Every metric that the gateway emits, under the names that the dashboard and the alarms use. Each has at most one dimension,
 * because CloudWatch bills every value of a dimension as a metric.
 */
export const metrics = {
  requests: count('Requests'),
  /** Requests refused with an error, by error code. */
  refusals: { ...count('Refusals'), dimension: 'Code' },
  /** Responses with a 4xx or 5xx status, counted as Lambda counts them for a Function URL. */
  errorAnswers: count('ErrorAnswers'),
  /** Agents that tried a WebSocket first and were told to use POST. Not counted as refusals. */
  webSocketTries: count('WebSocketTries'),
  /** Charges refunded because of a failure. */
  refunds: count('Refunds'),
  /** Charges that may stand although nobody should pay for them: the store's response to a charge or refund was lost. */
  chargesLeftStanding: count('ChargesLeftStanding'),
  /** Failed upstream attempts, by failure class. */
  upstreamFailures: { ...count('UpstreamFailures'), dimension: 'Class' },
  /**
   * 1 for each failed upstream attempt, 0 for each other. The average is the failure rate, undiluted by requests that never went
   * upstream (refusals, scanners).
   */
  upstreamFailedTries: count('UpstreamFailedTries'),
  /** Until the first event of a stream. `duration`: until the end of any answer from an upstream. */
  timeToFirstByte: milliseconds('TimeToFirstByte'),
  duration: milliseconds('Duration'),
  /** As the upstream bills them. Input includes cache reads and writes, output includes reasoning. */
  inputTokens: count('InputTokens'),
  cacheReadTokens: count('CacheReadTokens'),
  cacheWriteTokens: count('CacheWriteTokens'),
  outputTokens: count('OutputTokens'),
  reasoningTokens: count('ReasoningTokens'),
  /** Complete answers without token counts. */
  answersWithoutUsage: count('AnswersWithoutUsage'),
  /** Requests that lost something in translation. */
  leftOut: count('LeftOut'),
  /** How much of the deployment limits is used, as seen by each request that counts against them. */
  dailyLimitUsed: percent('DailyLimitUsed'),
  guestDailyLimitUsed: percent('GuestDailyLimitUsed'),
  /** What answers cost, in the operator's currency, by public model; and what prompt caching saved. */
  spent: { ...money('Spent'), dimension: 'Model' },
  savedByCaches: money('SavedByCaches'),
  /** How much of the daily spend limit is used, as seen by each request that is checked against it. */
  spendShare: percent('SpendShare'),
  /** Reservations that could not be settled: they count against a budget as if they had been spent. */
  budgetsLeftStanding: count('BudgetLeftStanding'),
  /** Budgets of which 80 % is spent. Each counts once in a budget period. */
  budgetsNearlySpent: count('BudgetsNearlySpent'),
  /** Reservations whose process died, counted by the charge that found them. */
  lostReservations: count('LostReservations'),
  coldStarts: count('ColdStarts'),
  /** Failures of the gateway itself or its store. */
  gatewayErrors: count('GatewayErrors'),
  /** Failed refreshes of a secret; its last value stays in use. */
  secretsNotRefreshed: count('SecretsNotRefreshed'),
  /** The OIDC provider could not be reached or trusted. */
  signInsFailed: count('SignInsFailed'),
} as const;

/** What the canary emits. */
export const canaryMetrics = {
  /** The failed checks of one run. */
  failures: count('CanaryFailures'),
} as const;

const all = { ...metrics, ...canaryMetrics };

/** Values by metric, or by the dimension's value for a metric with a dimension. Undefined if not measured. */
export type Measured = { readonly [Name in keyof typeof all]?: Value<(typeof all)[Name]> | undefined };
type Value<Metric> = Metric extends { readonly dimension: string } ? Readonly<Record<string, number>> : number;

/**
 * CloudWatch's embedded metric format: metrics as fields of a log line, so that they need no API call. Written by hand because it is
 * short: a library would keep state between requests, print its own lines, and slow down every cold start.
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
