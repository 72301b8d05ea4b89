import { stopping } from '../errors.ts';

interface Running<One> {
  /** Returns a function that removes it; call it once. */
  add(one: One): () => void;
  /** Unordered. */
  list(): One[];
}

/**
 * Tracks what is running. Not a `Set`, which would make requests more expensive: in V8, each backing table that a set has outgrown
 * points to the next one. Once one of them is in the old generation, all later tables survive scavenges, and so does everything that
 * they ever held.
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
        // Move the last one into the gap.
        last.at = entry.at;
        entries[entry.at] = last;
      };
    },
    list: () => entries.map(({ one }) => one),
  };
}

/** Milliseconds for aborted requests to send their error and refund their charge. A platform may leave one second in all. */
export const lastWordTime = 500;

/** Aborts running requests at shutdown, each with an error that refunds. */
export function createShutdownSignals() {
  const running = createRunning<AbortController>();
  return {
    /** Returns a request's signal, and a function to call when the request has ended. */
    open() {
      const cut = new AbortController();
      return { signal: cut.signal, over: running.add(cut) };
    },
    all(): void {
      for (const cut of running.list()) cut.abort(stopping().refunded());
    },
  };
}
