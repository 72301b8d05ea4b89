import type { Writable } from 'node:stream';

/** Writes lines to a stream. Those of one turn of the event loop leave together, in one write to the system. */
export function gatherLines(stream: Writable): (line: string) => void {
  let gathering = false;
  const release = () => {
    gathering = false;
    stream.uncork();
  };
  return (line) => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      setImmediate(release);
    }
    stream.write(line);
  };
}

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
