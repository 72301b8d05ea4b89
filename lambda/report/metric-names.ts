/** The namespace where nobody chose another: the stack gives each stage its own, so that their figures don't mix. */
export const metricNamespace = 'InferenceGateway';

/**
 * Every metric that the function emits, under the names that the dashboard and the alarms read. At most one dimension each:
 * every value of it makes a metric of its own, and is billed as one.
 */
export const metrics = {
  requests: { name: 'Requests', unit: 'Count' },
  /** Requests that were answered with an error. */
  refusals: { name: 'Refusals', unit: 'Count', dimension: 'Code' },
  /** Agents that tried a WebSocket first, and were sent to POST: no error of anyone's. */
  webSocketTries: { name: 'WebSocketTries', unit: 'Count' },
  /** Charges that were given back for a failure. */
  refunds: { name: 'Refunds', unit: 'Count' },
  /** Charges that may stand although nobody should pay: the store's answer to a charge or a refund was lost. */
  chargesLeftStanding: { name: 'ChargesLeftStanding', unit: 'Count' },
  /** Of an upstream, by the class of the failure. */
  upstreamFailures: { name: 'UpstreamFailures', unit: 'Count', dimension: 'Class' },
  /**
   * One figure for each try of an upstream: 1 where it failed, 0 where it did not. So their average is the share that failed,
   * and what an upstream was not asked (refusals, scanners) dilutes nothing.
   */
  upstreamFailedTries: { name: 'UpstreamFailedTries', unit: 'Count' },
  /** Until the first event of a stream, and until the end of any answer that went upstream. */
  timeToFirstByte: { name: 'TimeToFirstByte', unit: 'Milliseconds' },
  duration: { name: 'Duration', unit: 'Milliseconds' },
  /** As the upstream bills them: of the input, some are read from its cache and some written there; of the output, some are reasoning. */
  inputTokens: { name: 'InputTokens', unit: 'Count' },
  cacheReadTokens: { name: 'CacheReadTokens', unit: 'Count' },
  cacheWriteTokens: { name: 'CacheWriteTokens', unit: 'Count' },
  outputTokens: { name: 'OutputTokens', unit: 'Count' },
  reasoningTokens: { name: 'ReasoningTokens', unit: 'Count' },
  /** Whole answers in which the upstream said nothing of what they cost. */
  answersWithoutUsage: { name: 'AnswersWithoutUsage', unit: 'Count' },
  /** What is used of the limits of the whole deployment, as each request that counts towards one has seen it. */
  dailyLimitUsed: { name: 'DailyLimitUsed', unit: 'Percent' },
  guestDailyLimitUsed: { name: 'GuestDailyLimitUsed', unit: 'Percent' },
  coldStarts: { name: 'ColdStarts', unit: 'Count' },
  /** What went wrong inside the gateway itself, or in its store. */
  gatewayErrors: { name: 'GatewayErrors', unit: 'Count' },
  /** Readings of a secret that failed, so that the values known before stay in use. */
  secretsNotRefreshed: { name: 'SecretsNotRefreshed', unit: 'Count' },
} as const;

/** What the canary emits, where there is one. */
export const canaryMetrics = {
  /** Checks of one run that failed. */
  failures: { name: 'CanaryFailures', unit: 'Count' },
} as const;
