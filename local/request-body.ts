import type { IncomingMessage } from 'node:http';

/** How much of a body that is too large is read on, so that a client that sends before it reads gets its answer. */
const drainLimit = 64 * 1024 * 1024;

/**
 * Reads a request's body: whole up to `limit` bytes; of a longer one the first `limit + 1`, as soon as they are there, so
 * that the function can refuse it. Undefined when the client left before its end.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  // One buffer that grows, not a list of chunks: a body sent byte by byte must not cost a hundred times its size.
  let stored = Buffer.alloc(0);
  let size = 0;
  const finish = () => resolve(stored.subarray(0, Math.min(size, limit + 1)));

  request.on('data', (chunk: Buffer) => {
    if (size <= limit) {
      if (size + chunk.length > stored.length) {
        const grown = Buffer.alloc(Math.min(Math.max(2 * stored.length, size + chunk.length), limit + 1));
        stored.copy(grown, 0, 0, size);
        stored = grown;
      }
      chunk.copy(stored, size);
    }
    size += chunk.length;
    if (size > limit) finish();
    if (size > limit + drainLimit) request.destroy();
  });
  request.on('end', finish);
  request.on('close', () => resolve(undefined));
  return promise;
}
