const cacheCapacity = 10_000;

/** Caches a value, and evicts the oldest if there are too many. */
export function cacheValue<T>(known: Map<string, T>, name: string, value: T): void {
  known.set(name, value);
  const [oldest] = known.keys();
  if (known.size > cacheCapacity && oldest !== undefined) known.delete(oldest);
}

export type Find<T> = (name: string) => Promise<T | undefined>;

/** Caches what a lookup finds for `lifetime` milliseconds, as long as it is valid. Misses are not cached. */
export function cacheFound<T>(
  find: Find<T>,
  isValid: (found: T) => boolean,
  lifetime: number,
  now: () => number,
): Find<T> {
  const known = new Map<string, { readonly found: T; readonly until: number }>();
  const lookUp = shareLookups(find);
  return async (name) => {
    const cached = known.get(name);
    if (cached && now() < cached.until) return cached.found;
    const found = await lookUp(name);
    known.delete(name);
    if (found === undefined || !isValid(found)) return found;
    cacheValue(known, name, { found, until: now() + lifetime });
    return found;
  };
}

/**
 * Coalesces concurrent lookups of the same name. Only a hit is shared: after a miss, each caller looks again, because the record may
 * have been created since.
 */
export function shareLookups<T>(find: Find<T>): Find<T> {
  const running = new Map<string, Promise<T | undefined>>();
  return async (name) => {
    const shared = running.get(name);
    const found = shared && (await shared);
    if (found !== undefined) return found;
    const own = find(name).finally(() => {
      if (running.get(name) === own) running.delete(name);
    });
    running.set(name, own);
    return own;
  };
}
