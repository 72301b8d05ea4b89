export type RunEvery = (task: () => void, time: number) => void;

export interface RefreshDependencies {
  readonly now: () => number;
  /** Called when a refresh failed and the last known value stays in use. */
  readonly onStale: (error: unknown) => void;
  /** Runs a task at intervals. If given, refreshes happen in the background and no request waits for one. */
  readonly runEvery?: RunEvery | undefined;
}

/** A change from outside is in use everywhere within a minute. */
const refreshTime = 60_000;
/** How long one call to AWS may take, repeats and their pauses included, in milliseconds. */
export const timeLimit = 2_000;

/** Rejects if the reading takes too long. */
export function withinTimeLimit<T>(reading: Promise<T>): Promise<T> {
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooSlow.reject(new Error('read too slowly')), timeLimit);
  return Promise.race([reading, tooSlow.promise]).finally(() => clearTimeout(timer));
}

/** Reads at most once a minute, in the background if it can. If a later reading fails, the last known value stays in use. */
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
 * Callers who ask during a reading share its result. But nobody joins one that has outlived its time limit: Lambda froze it
 * together with its environment, which may happen right after a start.
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
