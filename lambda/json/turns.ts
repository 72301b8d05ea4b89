import { setImmediate } from 'node:timers/promises';

/** Resolves when the last queued piece of work may run. */
let latest: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop of its own: all long scans together do one piece per turn, so that streams hardly wait. */
export async function takeTurn(): Promise<void> {
  latest = latest.then(() => setImmediate());
  await latest;
}
