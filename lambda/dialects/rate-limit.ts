/** How many requests a caller may still send. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Until the count restarts; absent if it never does. */
  readonly resetSeconds?: number;
}

/** The headers in which clients of OpenAI look for their rate limit. */
export function renderOpenAiRateLimit({ limit, remaining, resetSeconds }: RateLimit): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(limit),
    'x-ratelimit-remaining-requests': String(remaining),
    ...(resetSeconds !== undefined && { 'x-ratelimit-reset-requests': `${resetSeconds}s` }),
  };
}

/** The headers in which clients of Anthropic look for theirs. */
export function renderAnthropicRateLimit(
  { limit, remaining, resetSeconds }: RateLimit,
  now: number,
): Record<string, string> {
  const name = 'anthropic-ratelimit-requests';
  return {
    [`${name}-limit`]: String(limit),
    [`${name}-remaining`]: String(remaining),
    ...(resetSeconds !== undefined && { [`${name}-reset`]: wholeSecond(now + resetSeconds * 1000) }),
  };
}

const wholeSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
