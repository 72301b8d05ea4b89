export interface Cache<T> {
  get(name: string): T | undefined;
  set(name: string, value: T): void;
}

/**
 * Shares one look-up among all callers that ask for the same name at once. Only a find is shared: what was not found may have
 * been created since, so each of them looks again.
 */
export function shareFindings<T>(
  find: (name: string) => Promise<T | undefined>,
): (name: string) => Promise<T | undefined> {
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

/** Keeps up to `capacity` values, each for `lifetime` milliseconds; the oldest goes first. */
export function createCache<T>(lifetime: number, capacity: number, now: () => number): Cache<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get: (name) => {
      const entry = entries.get(name);
      return entry && now() < entry.until ? entry.value : undefined;
    },
    set: (name, value) => {
      entries.delete(name);
      entries.set(name, { value, until: now() + lifetime });
      const [oldest] = entries.keys();
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    },
  };
}
