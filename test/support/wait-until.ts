import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** Shorter than a test may take, so that the sentence below is what fails it. */
const patience = 60_000;

/** Lets the event loop turn until there is what is looked for; throws, and names it, where that takes too long. */
export async function waitUntil<T>(find: () => T | undefined | false, what: string, longest = patience): Promise<T> {
  const end = performance.now() + longest;
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`Waited ${longest / 1000} s in vain until ${what}.`);
    await setImmediate();
  }
}

/** Lets the event loop turn so many times: what is under way between the sockets of one process gets on meanwhile. */
export async function turnEventLoop(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await setImmediate();
}
