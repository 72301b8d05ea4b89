import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { smallBody } from '../http/bodies.ts';
import type { Body } from '../request/incoming-request.ts';
import type { Memory } from '../request/memory.ts';
import { joinReads } from './join-reads.ts';

/** How long a body may take to arrive after the headers, in milliseconds. */
const arrivalTime = 60_000;
/** How many more bytes of an oversized body are read, for clients that read the response only after they have sent everything. */
const drainLimit = 64 * 1024 * 1024;

interface BodyOptions {
  /** In bytes. A larger body is not buffered. */
  readonly limit: number;
  readonly memory: Memory;
  /** Aborts with the error to refuse the request with. */
  readonly shutdownSignal: AbortSignal;
  /** Sends `100 Continue`; undefined if the client does not wait for it. */
  readonly ask: (() => void) | undefined;
}

interface IncomingBody {
  /** Buffers the body, up to a lower limit if one is given. Resolves with its size, or any size above the limit if it is too large. */
  receive(limit?: number): Promise<number>;
  /** Reads and discards the body. Resolves like `receive`. */
  drop(): Promise<number>;
  /** Returns the buffered body, once. */
  take(): Promise<Body>;
  /** Discards the body. Resolves when no more of it will be read, with whether all of it arrived. */
  over(): Promise<boolean>;
}

/** The state of a body that is arriving. */
interface Arrival {
  readonly request: IncomingMessage;
  /** Resolves with the size once the body is complete or exceeds the limit. Rejects if it is given up or doesn't fit in memory. */
  readonly whole: PromiseWithResolvers<number>;
  /** Whether anyone has asked for the body, and to do what. */
  state: 'unread' | 'buffered' | 'discarded';
  limit: number;
  size: number;
  /** The bytes so far; undefined if they are not buffered, or no longer. */
  buffer: BodyBuffer | undefined;
  /** Why there is no memory for it. */
  refusal?: unknown;
}

export function createIncomingBody(
  request: IncomingMessage,
  { limit: usualLimit, memory, shutdownSignal, ask }: BodyOptions,
): IncomingBody {
  const declared = declaredSize(request);
  const whole = Promise.withResolvers<number>();
  whole.promise.catch(() => {}); // it may fail before anyone asks for it
  const arrival: Arrival = { request, whole, state: 'unread', limit: usualLimit, size: 0, buffer: undefined };
  // Started right away: otherwise chunks would queue up one by one, uncounted, until someone asks for the body.
  const reads = declared === 0 ? undefined : joinReads(request, () => giveUp(arrival, tooFine()));

  const read = (buffers: boolean): Promise<number> => {
    if (!reads) return Promise.resolve(0);
    if (arrival.state === 'unread') {
      // No need to discard what the client was never asked to send.
      if (ask && !buffers && declared !== undefined) return Promise.resolve(declared);
      ask?.();
      arrival.state = buffers ? 'buffered' : 'discarded';
      if (buffers) arrival.buffer = createBodyBuffer(declared, arrival.limit, memory);
      follow(arrival, reads);
      watch(arrival, declared, shutdownSignal);
    }
    return whole.promise;
  };

  return {
    receive: (most = usualLimit) => {
      arrival.limit = Math.min(most, usualLimit);
      // A body with too large a content-length is never buffered.
      return read(declared === undefined || declared <= arrival.limit);
    },
    drop: () => read(false),
    take: async () => {
      await read(true);
      const bytes = arrival.buffer?.bytes() ?? Buffer.alloc(0);
      arrival.buffer = undefined;
      return bytes;
    },
    over: async () => {
      arrival.buffer = undefined;
      const size = await read(false).catch(() => undefined);
      return size !== undefined && size <= arrival.limit && (request.complete || !ask);
    },
  };
}

/** Drops the buffer and stops waiting for the rest. */
function giveUp(arrival: Arrival, reason: unknown): void {
  arrival.buffer = undefined;
  arrival.whole.reject(reason);
}

/** Reads a body to its end. */
function follow(arrival: Arrival, reads: ReturnType<typeof joinReads>): void {
  const { request, whole } = arrival;
  const finish = () => {
    reads.flush();
    arrival.buffer?.trim();
    settle(arrival);
  };
  const onClose = () => {
    if (request.readableEnded) finish();
    else whole.reject(arrival.refusal ?? brokenOff());
  };
  request.on('end', finish);
  reads.takeBy((bytes) => add(arrival, bytes));
  request.on('close', onClose);
  if (request.closed) onClose();
}

function add(arrival: Arrival, bytes: Buffer): void {
  arrival.size += bytes.length;
  const { request, size, limit } = arrival;
  try {
    if (size <= limit) arrival.buffer?.add(bytes);
    else arrival.buffer = undefined;
  } catch (error) {
    // Out of memory. The rest is still read to its end.
    arrival.refusal = error;
    arrival.buffer = undefined;
  }
  if (size > limit) settle(arrival);
  if (size > limit + drainLimit) request.destroy();
}

function settle({ whole, size, refusal }: Arrival): void {
  if (refusal) whole.reject(refusal);
  else whole.resolve(size);
}

/**
 * Gives a body up after 60 s, or at shutdown. A buffered body occupies memory that others may need, so from the tenth second on it
 * must also arrive fast enough to finish in time.
 */
function watch(arrival: Arrival, declared: number | undefined, shutdownSignal: AbortSignal): void {
  const begun = performance.now();
  const expected = arrival.state === 'buffered' ? (declared ?? 0) : 0;
  const timer = setInterval(() => {
    const part = (performance.now() - begun) / arrivalTime;
    if (part >= 1) giveUp(arrival, tooLate());
    else if (part >= 1 / 6 && arrival.size < part * expected) giveUp(arrival, tooSlow());
  }, arrivalTime / 60);
  const giveUpWithProcess = () => giveUp(arrival, shutdownSignal.reason);
  if (shutdownSignal.aborted) giveUpWithProcess();
  shutdownSignal.addEventListener('abort', giveUpWithProcess);
  const stop = () => {
    clearInterval(timer);
    shutdownSignal.removeEventListener('abort', giveUpWithProcess);
  };
  arrival.whole.promise.then(stop, stop);
}

type BodyBuffer = ReturnType<typeof createBodyBuffer>;

/** One growing buffer instead of a list of chunks: a body sent byte by byte must not take a hundred times its size. */
function createBodyBuffer(declared: number | undefined, limit: number, memory: Memory) {
  let stored = Buffer.alloc(0);
  let size = 0;

  const capacityFor = (needed: number): number => {
    const doubled = Math.min(Math.max(2 * stored.length, needed), declared ?? limit);
    // Anyone can send a large content-length, so it is trusted only once the body is no longer small.
    if (needed <= smallBody) return Math.min(doubled, smallBody);
    return declared ?? doubled;
  };

  return {
    /** Throws if there is no memory. */
    add(chunk: Buffer): void {
      if (size + chunk.length > stored.length) {
        const capacity = capacityFor(size + chunk.length);
        memory.take(capacity - stored.length, capacity);
        const grown = Buffer.alloc(capacity);
        stored.copy(grown, 0, 0, size);
        stored = grown;
      }
      size += chunk.copy(stored, size);
    },
    /** Copies the body to a buffer of its size: one that grew by doubling may be twice as large. */
    trim(): void {
      memory.leave(stored.length - size);
      if (stored.length > size) stored = Buffer.from(stored.subarray(0, size));
    },
    bytes: () => stored,
  };
}

/** From content-length; undefined for a chunked body. */
function declaredSize({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_request', 'The request body broke off before its end. Send all of it.');
}

function tooFine(): GatewayError {
  const message = 'The request body came in very many tiny chunks. Send larger ones.';
  return new GatewayError('invalid_request', message);
}

function tooLate(): GatewayError {
  const message = `The request body did not arrive within ${arrivalTime / 1000} seconds. Please try again.`;
  return new GatewayError('invalid_request', message, { status: 408 });
}

function tooSlow(): GatewayError {
  const message = 'The request body arrives too slowly to keep memory for it. Please send it faster.';
  return new GatewayError('service_unavailable', message, { reason: 'slow_body' });
}
