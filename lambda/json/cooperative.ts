import { setImmediate } from 'node:timers/promises';

/** Work that may be long. It yields wherever other requests may go first. */
export type Cooperative<T> = Generator<undefined, T>;

/** The characters processed in one turn of the event loop: a millisecond's work, or a few milliseconds' if values are short. */
export const charactersPerSlice = 262_144;

/** The same for values that are looked at one by one: a few milliseconds' work, if each has to be decoded. */
export const nodesPerTurn = 10_000;

/** When the last piece of long work that is waiting will run. */
let latest: Promise<unknown> = Promise.resolve();

/**
 * Does work piece by piece. All requests together do one piece in a turn, so that streams hardly wait. If the signal aborts,
 * the rest is left undone, and the signal's reason is thrown.
 */
export async function runCooperatively<T>(work: Cooperative<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const { done, value } = work.next();
    if (done) return value;
    latest = latest.then(() => setImmediate());
    await latest;
  }
}

/** Does work that is known to be short without letting go of it. */
export function atOnce<T>(work: Cooperative<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Whether to pause after a step over a whole text, or over its bytes. */
export function isLong({ length }: { readonly length: number }): boolean {
  return length > charactersPerSlice;
}
