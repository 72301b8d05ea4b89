import { setImmediate } from 'node:timers/promises';

/** When the last piece of long work that is waiting will run. */
let latest: Promise<unknown> = Promise.resolve();

/** Resolves in a turn of the event loop of its own: all long scans together do one piece in a turn, so that streams hardly wait. */
export async function takeTurn(): Promise<void> {
  latest = latest.then(() => setImmediate());
  await latest;
}
