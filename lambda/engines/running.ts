import { stopping } from '../errors.ts';

interface Running<One> {
  /** Returns what removes it, to be called once. */
  add(one: One): () => void;
  /** In any order. */
  list(): One[];
}

/**
 * What runs at the moment, each with much that it refers to. A `Set` of it would make a request dearer: V8 lets each table that a
 * set has outgrown refer to the next one, so as soon as one is old, all that come after it survive the collections of young objects,
 * with what stood in them.
 */
export function createRunning<One>(): Running<One> {
  const entries: { readonly one: One; at: number }[] = [];
  return {
    add(one) {
      const entry = { one, at: entries.length };
      entries.push(entry);
      return () => {
        const last = entries.pop();
        if (last === undefined || last === entry) return;
        // The last one moves into the gap.
        last.at = entry.at;
        entries[entry.at] = last;
      };
    },
    list: () => entries.map(({ one }) => one),
  };
}

/** In milliseconds: how long answers that were cut short have for their error and their refund. A platform may leave one second in all. */
export const lastWordTime = 500;

/** Ends running answers, each with an error, when the process stops. */
export function createShutdownSignals() {
  const running = createRunning<AbortController>();
  return {
    /** Gives the signal for an answer, and what says that it is over. */
    open() {
      const cut = new AbortController();
      return { signal: cut.signal, over: running.add(cut) };
    },
    all(): void {
      for (const cut of running.list()) cut.abort(stopping().refunded());
    },
  };
}
