import type { Writable } from 'node:stream';

/** Resolves when all that was written has been taken over, or after `timeLimit` milliseconds where nobody takes it. */
export function flushed(stream: Writable, timeLimit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeLimit);
  // A write calls back after all earlier ones, also where it fails.
  stream.write('', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
