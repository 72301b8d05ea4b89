const minuteLength = 60_000;
export const dayLength = 86_400_000;

export type Day = ReturnType<typeof dayOf>;

/** The day in UTC, as counters need it. */
export function dayOf(now: number) {
  const period = Math.floor(now / dayLength);
  const resetAt = (period + 1) * dayLength;
  // One day longer, for refunds after midnight.
  return { period, resetAt, expiresAt: resetAt + dayLength };
}

/** The minute since the epoch. */
export function minuteOf(now: number): number {
  return Math.floor(now / minuteLength);
}

/** When a minute begins. */
export function startOfMinute(minute: number): number {
  return minute * minuteLength;
}

/** Whole seconds, rounded up, so that a client that waits this long is never too early. */
export function secondsUntil(time: number, now: number): number {
  return Math.max(0, Math.ceil((time - now) / 1000));
}
