import type { IncomingMessage } from 'node:http';

/** How much more of an oversized body is read, so that a client that sends everything before it reads gets its answer. */
const drainLimit = 64 * 1024 * 1024;

/**
 * Reads a request's body: all of it up to `limit` bytes, or the first `limit + 1` of a longer one, as soon as they are there.
 * Undefined if the client left before the end. Calls `take` before it uses memory. If that throws, the rest is read and
 * dropped, and the promise rejects with the error.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  take: (bytes: number) => void = () => {},
): Promise<Buffer | undefined> {
  const most = Math.min(declaredSize(request) ?? Number.POSITIVE_INFINITY, limit + 1);
  // One buffer that grows, not a list of chunks: a body sent byte by byte must not cost a hundred times its size.
  let stored = Buffer.alloc(0);
  let size = 0;
  let noRoom: { readonly reason: unknown } | undefined;

  const keep = (chunk: Buffer) => {
    if (size + chunk.length > stored.length) {
      const capacity = Math.min(Math.max(2 * stored.length, size + chunk.length), most);
      take(capacity - stored.length);
      const grown = Buffer.alloc(capacity);
      stored.copy(grown, 0, 0, size);
      stored = grown;
    }
    size += chunk.copy(stored, size);
  };

  const reading = readThrough(request, limit, (chunk) => {
    if (noRoom || size > limit) return;
    try {
      keep(chunk);
    } catch (reason) {
      noRoom = { reason };
      stored = Buffer.alloc(0);
    }
  });
  return reading.then((whole) => {
    if (noRoom) throw noRoom.reason;
    const bytes = stored.subarray(0, size);
    stored = Buffer.alloc(0); // the request's listeners live until its answer is over
    return whole === undefined ? undefined : bytes;
  });
}

/** Reads a body without keeping it. Returns its size, as soon as that passes `limit`; undefined if the client left. */
export function skipBody(request: IncomingMessage, limit: number): Promise<number | undefined> {
  return readThrough(request, limit, () => {});
}

/** The size of a body that its request's head declares; undefined if only its end will tell. */
export function declaredSize({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

function readThrough(
  request: IncomingMessage,
  limit: number,
  onChunk: (chunk: Buffer) => void,
): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    onChunk(chunk);
    size += chunk.length;
    if (size > limit) resolve(size);
    if (size > limit + drainLimit) request.destroy();
  });
  request.on('end', () => resolve(size));
  request.on('close', () => resolve(undefined));
  return promise;
}
