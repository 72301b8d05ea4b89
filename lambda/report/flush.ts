import type { Writable } from 'node:stream';

/** Resolves when everything written has been taken, or after `timeLimit` milliseconds if nobody takes it. */
export function flushed(stream: Writable, timeLimit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeLimit);
  // A write calls back after all earlier ones, even if it fails.
  stream.write('', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
