import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { smallBody } from '../http/bodies.ts';
import type { Body } from '../request/incoming-request.ts';
import type { Memory } from '../request/memory.ts';
import { joinReads } from './join-reads.ts';

/** How long a body may take to arrive, from the end of its request's head. */
const arrivalTime = 60_000;
/** How much more of an oversized body is read, so that a client that sends everything before it reads gets its answer. */
const drainLimit = 64 * 1024 * 1024;

interface BodyOptions {
  /** In bytes; a larger body is not kept. */
  readonly limit: number;
  readonly memory: Memory;
  /** Aborts with the error to refuse the request with. */
  readonly shutdownSignal: AbortSignal;
  /** Asks the client for the body; undefined if it does not wait for that. */
  readonly ask: (() => void) | undefined;
}

/** What may be done with a body that is still arriving. */
interface IncomingBody {
  /** Reads and keeps it, up to a limit of its own if one is given. Returns its size, or any above the limit if it is too large. */
  receive(limit?: number): Promise<number>;
  /** Reads and drops it. Returns the same. */
  drop(): Promise<number>;
  /** The body that was received, once. */
  take(): Promise<Body>;
  /** Resolves when there is nothing left to wait for, with whether the body was complete. Drops it, whoever read it. */
  over(): Promise<boolean>;
}

/** A body on its way. */
interface Arrival {
  readonly request: IncomingMessage;
  /** Its size, once all of it has come, or more than the limit. Rejects with why it is given up, or finds no room. */
  readonly whole: PromiseWithResolvers<number>;
  /** Whether somebody has asked for it, and what for. */
  state: 'unread' | 'kept' | 'dropped';
  limit: number;
  size: number;
  /** What has come; undefined if that is not kept, or not any more. */
  store: Store | undefined;
  /** Why it finds no room. */
  refusal?: unknown;
}

export function createIncomingBody(
  request: IncomingMessage,
  { limit: usualLimit, memory, shutdownSignal, ask }: BodyOptions,
): IncomingBody {
  const declared = declaredSize(request);
  const whole = Promise.withResolvers<number>();
  whole.promise.catch(() => {}); // it may fail before anybody asks for it
  const arrival: Arrival = { request, whole, state: 'unread', limit: usualLimit, size: 0, store: undefined };
  // At once, as chunks would else be queued one by one, and not counted, until somebody asks for the body.
  const reads = declared === 0 ? undefined : joinReads(request, () => giveUp(arrival, tooFine()));

  const read = (keeps: boolean): Promise<number> => {
    if (!reads) return Promise.resolve(0);
    if (arrival.state === 'unread') {
      // What the client was never asked to send need not be dropped.
      if (ask && !keeps && declared !== undefined) return Promise.resolve(declared);
      ask?.();
      arrival.state = keeps ? 'kept' : 'dropped';
      if (keeps) arrival.store = createStore(declared, arrival.limit, memory);
      follow(arrival, reads);
      watch(arrival, declared, shutdownSignal);
    }
    return whole.promise;
  };

  return {
    receive: (most = usualLimit) => {
      arrival.limit = Math.min(most, usualLimit);
      // A body that declares itself too large is never kept.
      return read(declared === undefined || declared <= arrival.limit);
    },
    drop: () => read(false),
    take: async () => {
      await read(true);
      const bytes = arrival.store?.bytes() ?? Buffer.alloc(0);
      arrival.store = undefined;
      return bytes;
    },
    over: async () => {
      arrival.store = undefined;
      const size = await read(false).catch(() => undefined);
      return size !== undefined && size <= arrival.limit && (request.complete || !ask);
    },
  };
}

/** Keeps nothing more, and waits no longer for the rest. */
function giveUp(arrival: Arrival, reason: unknown): void {
  arrival.store = undefined;
  arrival.whole.reject(reason);
}

/** Follows a body to its end. */
function follow(arrival: Arrival, reads: ReturnType<typeof joinReads>): void {
  const { request, whole } = arrival;
  const finish = () => {
    reads.flush();
    arrival.store?.trim();
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
    if (size <= limit) arrival.store?.add(bytes);
    else arrival.store = undefined;
  } catch (error) {
    // What finds no room is read to its end all the same.
    arrival.refusal = error;
    arrival.store = undefined;
  }
  if (size > limit) settle(arrival);
  if (size > limit + drainLimit) request.destroy();
}

function settle({ whole, size, refusal }: Arrival): void {
  if (refusal) whole.reject(refusal);
  else whole.resolve(size);
}

/**
 * Gives a body up after 60 s, or at shutdown. One that is buffered, and so takes memory that others may need, must also keep up with a
 * linear pace from the tenth second on.
 */
function watch(arrival: Arrival, declared: number | undefined, shutdownSignal: AbortSignal): void {
  const begun = performance.now();
  const expected = arrival.state === 'kept' ? (declared ?? 0) : 0;
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

type Store = ReturnType<typeof createStore>;

/** Keeps bytes in one buffer that grows, not in a list of chunks: a body sent byte by byte must not cost a hundred times its size. */
function createStore(declared: number | undefined, limit: number, memory: Memory) {
  let stored = Buffer.alloc(0);
  let size = 0;

  const capacityFor = (needed: number): number => {
    const doubled = Math.min(Math.max(2 * stored.length, needed), declared ?? limit);
    // Anyone can announce a long body. That is believed once it is not small any more.
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
    /** A buffer that grew with a body of unknown length may have twice its size, so the body is copied out of it. */
    trim(): void {
      memory.leave(stored.length - size);
      if (stored.length > size) stored = Buffer.from(stored.subarray(0, size));
    },
    bytes: () => stored,
  };
}

/** The size of a body that its request's head declares; undefined if only its end will show it. */
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
