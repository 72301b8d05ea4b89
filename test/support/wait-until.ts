import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** Shorter than the time limit of a test, so that a test fails with the message below. */
const patience = 60_000;

/** Turns the event loop until a value is found; throws an error that names it if that takes too long. */
export async function waitUntil<T>(find: () => T | undefined | false, what: string, longest = patience): Promise<T> {
  const end = performance.now() + longest;
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`Waited ${longest / 1000} s in vain until ${what}.`);
    await setImmediate();
  }
}

/** Turns the event loop this many times, so that pending traffic between sockets of this process proceeds. */
export async function turnEventLoop(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await setImmediate();
}
