/** Caches a function of immutable objects. */
export function remembering<K extends object, V>(find: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = find(key);
    known.set(key, found);
    return found;
  };
}

export const textOf = remembering((value: object) => JSON.stringify(value));
