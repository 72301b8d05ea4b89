import { minuteOf, secondsUntil, startOfMinute } from '../budget/time.ts';
import type { RateLimit } from '../dialects/dialect.ts';
import type { QuotaSnapshot } from '../quota/snapshot.ts';
import type { Route } from './routes.ts';

interface Policy extends RateLimit {
  readonly name: string;
  /** In seconds; absent for a count that never resets. */
  readonly window?: number;
}

/**
 * The caller's rate limits, in two sets of headers: its dialect's, which can show only the tightest limit, and those of the IETF
 * draft (draft-ietf-httpapi-ratelimit-headers-10), which list them all.
 */
export function rateLimitHeaders(snapshot: QuotaSnapshot, route: Route, now: number): Record<string, string> {
  const policies = policiesOf(snapshot, now);
  const tightest = policies.reduce((a, b) => (b.remaining < a.remaining ? b : a));
  return {
    ...route.renderRateLimit(tightest, now),
    'ratelimit-policy': policies.map(({ name, limit, window }) => item(name, { q: limit, w: window })).join(', '),
    ratelimit: policies.map((one) => item(one.name, { r: one.remaining, t: one.resetSeconds })).join(', '),
  };
}

const daySeconds = 86_400;
const minuteSeconds = 60;

function policiesOf({ burst, limit, remaining, resetAt }: QuotaSnapshot, now: number): readonly [Policy, ...Policy[]] {
  const restart = resetAt !== undefined && { resetSeconds: secondsUntil(resetAt, now), window: daySeconds };
  return [
    { name: 'quota', limit, remaining, ...restart },
    ...(burst ? [{ name: 'burst', ...burstNow(burst, now), window: minuteSeconds }] : []),
  ];
}

/** A response may start minutes after its charge. By then nothing is known about the current minute, so all of it shows as free. */
function burstNow({ limit, remaining, resetAt }: NonNullable<QuotaSnapshot['burst']>, now: number): RateLimit {
  const resetSeconds = secondsUntil(startOfMinute(minuteOf(now) + 1), now);
  return { limit, remaining: resetAt > now ? remaining : limit, resetSeconds };
}

/** An item of a structured field (RFC 9651), with its parameters. */
function item(name: string, parameters: Readonly<Record<string, number | undefined>>): string {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return [`"${name}"`, ...set.map(([key, value]) => `${key}=${value}`)].join(';');
}
