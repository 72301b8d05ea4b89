export interface Cache<T> {
  get(name: string): T | undefined;
  set(name: string, value: T): void;
}

/** Remembers values for a time, and only so many of them: the oldest goes first. */
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
