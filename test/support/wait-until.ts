import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Shorter than a test's timeout, so that a test fails with the message below. */
const defaultTimeout = 60_000;

/** Polls once per turn of the event loop until a value is found. Throws a timeout error that says what was missing. */
export async function waitUntil<T>(
  find: () => T | undefined | false,
  what: string,
  timeout = defaultTimeout,
): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw timeoutError(what, timeout);
    await setImmediate();
  }
}

/** Awaits a promise that may never settle because of a defect, with the same timeout. Fake timers don't delay it. */
export async function inTime<T>(promise: PromiseLike<T>, what: string, timeout = defaultTimeout): Promise<T> {
  const settled = new AbortController();
  const late = setTimeout(timeout, undefined, { signal: settled.signal, ref: false }).then(() => {
    throw timeoutError(what, timeout);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}

const timeoutError = (what: string, timeout: number) => new Error(`Waited ${timeout / 1000} s in vain until ${what}.`);

/** Turns the event loop this many times, to let pending traffic between sockets of this process through. */
export async function turnEventLoop(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await setImmediate();
}
