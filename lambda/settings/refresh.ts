export type RunEvery = (task: () => void, time: number) => void;

export interface RefreshDependencies {
  readonly now: () => number;
  /** Called when a refresh fails and the last value stays in use. */
  readonly onStale: (error: unknown) => void;
  /** Runs a task at intervals. If present, refreshes happen in the background and no request waits for one. */
  readonly runEvery?: RunEvery | undefined;
}

/** In milliseconds: a change takes effect everywhere within a minute. */
const refreshTime = 60_000;
/** The timeout of a call to AWS, including retries and back-off, in milliseconds. */
export const timeLimit = 2_000;

/** Rejects if reading takes too long. */
export function withinTimeLimit<T>(reading: Promise<T>): Promise<T> {
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooSlow.reject(new Error('read too slowly')), timeLimit);
  return Promise.race([reading, tooSlow.promise]).finally(() => clearTimeout(timer));
}

/** Caches a value for a minute, and refreshes it in the background if possible. If a refresh fails, the last value stays in use. */
export function createMinuteCache<T>(
  read: () => Promise<T>,
  { now, onStale, runEvery }: RefreshDependencies,
): () => Promise<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined;
  let scheduled = false;
  const refresh = shareReading(async (): Promise<T> => {
    const readAt = now();
    try {
      known = { value: await read(), readAt };
    } catch (error) {
      if (!known) throw error;
      onStale(error);
      known = { value: known.value, readAt };
    }
    return known.value;
  }, now);
  return async () => {
    if (runEvery && !scheduled) {
      scheduled = true;
      runEvery(() => refresh().catch(() => {}), refreshTime);
    }
    return known && (runEvery || now() - known.readAt < refreshTime) ? known.value : refresh();
  };
}

/**
 * Coalesces concurrent reads. A read that is older than the time limit is not joined: Lambda has frozen it together with the
 * process, which can happen right after a start.
 */
export function shareReading<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let current: { readonly reading: Promise<T>; readonly startedAt: number } | undefined;
  return () => {
    if (current && now() - current.startedAt < timeLimit) return current.reading;
    const reading = read().finally(() => {
      if (current?.reading === reading) current = undefined;
    });
    current = { reading, startedAt: now() };
    return reading;
  };
}
