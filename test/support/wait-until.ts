import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Shorter than the time limit of a test, so that a test fails with the message below. */
const patience = 60_000;

/** Turns the event loop until a value is found; throws an error that names it if that takes too long. */
export async function waitUntil<T>(find: () => T | undefined | false, what: string, longest = patience): Promise<T> {
  const end = performance.now() + longest;
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw inVain(what, longest);
    await setImmediate();
  }
}

/** The same for a promise that a defect may leave unsettled. Not delayed by fake timers. */
export async function inTime<T>(promise: PromiseLike<T>, what: string, longest = patience): Promise<T> {
  const settled = new AbortController();
  const late = setTimeout(longest, undefined, { signal: settled.signal, ref: false }).then(() => {
    throw inVain(what, longest);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}

const inVain = (what: string, longest: number) => new Error(`Waited ${longest / 1000} s in vain until ${what}.`);

/** Turns the event loop this many times, so that pending traffic between sockets of this process proceeds. */
export async function turnEventLoop(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await setImmediate();
}
