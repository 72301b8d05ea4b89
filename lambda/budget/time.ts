const minuteLength = 60_000;
export const dayLength = 86_400_000;

export type Day = ReturnType<typeof dayOf>;

/** A day in UTC, as a period of counters. */
export function dayOf(now: number) {
  const period = Math.floor(now / dayLength);
  const resetAt = (period + 1) * dayLength;
  // Kept for a day more, for refunds that come after midnight.
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

/** Whole seconds, rounded up, so that nobody who waits that long comes early. */
export function secondsUntil(time: number, now: number): number {
  return Math.max(0, Math.ceil((time - now) / 1000));
}
