import type { RateLimit } from '../dialect.ts';

/** The rate limit headers that Anthropic clients read. */
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
