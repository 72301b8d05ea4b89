const cacheCapacity = 10_000;

/** Remembers a value; of too many the oldest is forgotten. */
export function keep<T>(known: Map<string, T>, name: string, value: T): void {
  known.set(name, value);
  const [oldest] = known.keys();
  if (known.size > cacheCapacity && oldest !== undefined) known.delete(oldest);
}

export type Find<T> = (name: string) => Promise<T | undefined>;

/** Uses what was found, while it is good, for `lifetime` milliseconds without looking it up again. */
export function rememberFindings<T>(
  find: Find<T>,
  isGood: (found: T) => boolean,
  lifetime: number,
  now: () => number,
): Find<T> {
  const known = new Map<string, { readonly found: T; readonly until: number }>();
  const look = shareFindings(find);
  return async (name) => {
    const cached = known.get(name);
    if (cached && now() < cached.until) return cached.found;
    const found = await look(name);
    known.delete(name);
    if (found === undefined || !isGood(found)) return found;
    keep(known, name, { found, until: now() + lifetime });
    return found;
  };
}

/**
 * Shares one look-up among all callers that ask for the same name at once. Only a find is shared: what was not found may have
 * been created since, so each of them looks again.
 */
export function shareFindings<T>(find: Find<T>): Find<T> {
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
