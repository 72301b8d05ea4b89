export type Repeat = (task: () => void, time: number) => void;

interface Dependencies {
  readonly now: () => number;
  /** Told when a refresh failed and the last known value stays in use. */
  readonly onStale: (error: unknown) => void;
  /** Does something again and again, at such a distance; where it is there, no request waits for a refresh. */
  readonly repeat?: Repeat | undefined;
}

/** What is changed from outside is in use everywhere within a minute. */
const refreshTime = 60_000;
/** A reader that does not answer must not hold a request up for longer than the tables may. */
export const timeLimit = 2_000;

/** Reads once a minute at most, or by itself. What was known stays in use where a later reading fails. */
export function createRefreshed<T>(read: () => Promise<T>, { now, onStale, repeat }: Dependencies): () => Promise<T> {
  let known: { readonly value: T; readonly readAt: number } | undefined;
  let repeated = false;
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
    if (repeat && !repeated) {
      repeated = true;
      repeat(() => refresh().catch(() => {}), refreshTime);
    }
    return known && (repeat || now() - known.readAt < refreshTime) ? known.value : refresh();
  };
}

/**
 * Who asks meanwhile shares a reading. One that has outlived its limit was frozen together with its environment, which
 * may happen right after a start: nobody joins that.
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
