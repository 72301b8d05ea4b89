import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { smallBody } from '../http/bodies.ts';

/** Chunks that are fewer than this, or hold as many bytes on average, are nothing unusual. */
const usualChunks = 10_000;
const usualChunk = 16;
/** After a read that brings more than this, others get their turn. */
const manyChunks = 256;

/** What each connection has brought: one request after the other may have as many chunks as are usual. */
const broughtBy = new WeakMap<Socket, { chunks: number; size: number; isHeld: boolean }>();

/**
 * Hands on what one read of the connection has brought as one piece: a read may hold ten thousand chunks of a byte. Until somebody
 * takes it, no more than a small body is kept. From a connection that goes on like that nothing more is read: its request is given
 * up, and can still be answered.
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
    // In one turn up to 32 reads may follow each other.
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
    /** Hands on what has arrived, and all that comes from now on. */
    takeBy(taker: (bytes: Buffer) => void): void {
      take = taker;
      flush();
      request.resume();
    },
    /** Hands on the rest. */
    flush,
  };
}

/** Reads a body that nobody wants to its end. */
export function discardBody(request: IncomingMessage): void {
  joinReads(request, () => {}).takeBy(() => {});
}

/** Reads nothing more. Node resumes a connection by itself, for example when a request on it has been answered. */
function hold(socket: Socket): void {
  socket.pause().on('resume', () => socket.pause());
}

function pauseForTurn(socket: Socket): void {
  socket.pause();
  setImmediate(() => socket.resume());
}
