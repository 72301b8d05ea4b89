import type { IncomingMessage } from 'node:http';
import { type Room, smallBody } from '../http/room.ts';

/** How much more of an oversized body is read, so that a client that sends everything before it reads gets its answer. */
const drainLimit = 64 * 1024 * 1024;

/**
 * Reads a request's body: all of it up to `limit` bytes, or the first `limit + 1` of a longer one, as soon as they are there.
 * Undefined if the client left before the end. Calls `take` before it uses memory. If that throws, or the signal aborts, the
 * rest is read and dropped, and the promise rejects with the error.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  take: Room['take'] = () => {},
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const declared = declaredSize(request);
  const most = Math.min(declared ?? Number.POSITIVE_INFINITY, limit + 1);
  // One buffer that grows, not a list of chunks: a body sent byte by byte must not cost a hundred times its size.
  let stored = Buffer.alloc(0);
  let size = 0;
  let refusal: { readonly reason: unknown } | undefined;

  const capacityFor = (needed: number): number => {
    const doubled = Math.min(Math.max(2 * stored.length, needed), most);
    // Anyone can announce a long body. That is believed once it is not small any more.
    if (needed <= smallBody) return Math.min(doubled, smallBody);
    return declared === undefined ? doubled : most;
  };

  const keep = (chunk: Buffer) => {
    if (size + chunk.length > stored.length) {
      const capacity = capacityFor(size + chunk.length);
      take(capacity - stored.length, capacity);
      const grown = Buffer.alloc(capacity);
      stored.copy(grown, 0, 0, size);
      stored = grown;
    }
    size += chunk.copy(stored, size);
  };

  const refuse = (reason: unknown) => {
    refusal ??= { reason };
    stored = Buffer.alloc(0);
  };

  signal?.addEventListener('abort', () => refuse(signal.reason));
  const reading = readThrough(request, limit, (chunk) => {
    if (refusal || size > limit) return;
    try {
      keep(chunk);
    } catch (reason) {
      refuse(reason);
    }
  });
  return reading.then((whole) => {
    if (refusal) throw refusal.reason;
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
