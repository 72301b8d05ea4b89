import { setImmediate } from 'node:timers/promises';

/** Work that may be long: it yields where others may have their turn. */
export type Work<T> = Generator<undefined, T>;

/** As many characters as are looked at in one turn of the event loop: a millisecond's work, or a few where values are short. */
export const perTurn = 262_144;

/** When the latest piece of long work is to be done that any request waits for. */
let latest: Promise<unknown> = Promise.resolve();

/**
 * Does work piece by piece. Of all that is done this way there is one piece in a turn, so that streams hardly wait for it. Once nobody waits for
 * the outcome any more, the rest is left undone, and the signal's reason is thrown.
 */
export async function inTurns<T>(work: Work<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const { done, value } = work.next();
    if (done) return value;
    latest = latest.then(() => setImmediate());
    await latest;
  }
}

/** Whether a step over all of a text, or of its bytes, is to be followed by a pause. */
export function isLong({ length }: { readonly length: number }): boolean {
  return length > perTurn;
}
