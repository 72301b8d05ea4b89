import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { smallBody } from '../http/bodies.ts';

/** Up to this many chunks, or chunks of at least this average size, are nothing unusual. */
const usualChunks = 10_000;
const usualChunk = 16;
/** After a read with more chunks than this, other connections get a turn. */
const manyChunks = 256;

/** Counted per connection, so that many requests in a row can't each bring the usual number of chunks. */
const broughtBy = new WeakMap<Socket, { chunks: number; size: number; isHeld: boolean }>();

/**
 * Joins all chunks of one socket read into one buffer, because a single read may contain ten thousand chunks of one byte. Until a
 * consumer is attached, it buffers no more than a small body. A connection that keeps sending tiny chunks is paused for good: its
 * request is given up, but can still be answered.
 */
export function joinReads(request: IncomingMessage, giveUp: () => void) {
  const brought = broughtBy.get(request.socket) ?? { chunks: 0, size: 0, isHeld: false };
  broughtBy.set(request.socket, brought);
  let take: ((bytes: Buffer) => void) | undefined;
  let arrived: Buffer[] = [];
  let isDue = false;
  const flush = () => {
    isDue = false;
    const [first, ...others] = arrived;
    if (first === undefined) return;
    // Node may do up to 32 reads in one turn of the event loop.
    if (others.length > manyChunks) pauseForTurn(request.socket);
    const bytes = others.length === 0 ? first : Buffer.concat(arrived);
    arrived = take ? [] : [bytes];
    if (take) take(bytes);
    else if (bytes.length > smallBody) request.pause();
    if (brought.chunks <= usualChunks || brought.size >= brought.chunks * usualChunk) return;
    if (!brought.isHeld) hold(request.socket);
    brought.isHeld = true;
    giveUp();
  };
  request.on('data', (chunk: Buffer) => {
    brought.chunks += 1;
    brought.size += chunk.length;
    arrived.push(chunk);
    if (!isDue) process.nextTick(flush);
    isDue = true;
  });
  return {
    /** Attaches a consumer for what has arrived and what is still to come. */
    takeBy(taker: (bytes: Buffer) => void): void {
      take = taker;
      flush();
      request.resume();
    },
    /** Delivers what is left. */
    flush,
  };
}

/** Reads an unwanted body to its end. */
export function discardBody(request: IncomingMessage): void {
  joinReads(request, () => {}).takeBy(() => {});
}

/** Pauses a socket for good. Node would resume it, for example after a response. */
function hold(socket: Socket): void {
  socket.pause().on('resume', () => socket.pause());
}

function pauseForTurn(socket: Socket): void {
  socket.pause();
  setImmediate(() => socket.resume());
}
