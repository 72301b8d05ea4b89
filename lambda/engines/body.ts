import type { IncomingMessage } from 'node:http';
import { type Memory, smallBody } from '../bodies.ts';
import { GatewayError } from '../errors.ts';
import type { Body } from '../request/call.ts';
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
  readonly cutShort: AbortSignal;
  /** Asks the client for the body; undefined if it does not wait for that. */
  readonly ask: (() => void) | undefined;
}

/** A body that is still arriving. */
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

export function createIncomingBody(
  request: IncomingMessage,
  { limit: usualLimit, memory, cutShort, ask }: BodyOptions,
): IncomingBody {
  const declared = declaredSize(request);
  const { promise: arrived, resolve, reject } = Promise.withResolvers<number>();
  arrived.catch(() => {}); // it may fail before anybody asks for it
  let limit = usualLimit;
  let begun = false;
  let size = 0;
  let store: ReturnType<typeof createStore> | undefined;
  // At once, as chunks would else be queued one by one, and not counted, until somebody asks for the body.
  const reads = declared === 0 ? undefined : joinReads(request, () => giveUp(tooFine()));

  /** Keeps nothing more, and waits no longer for the rest. */
  const giveUp = (reason: unknown) => {
    store = undefined;
    reject(reason);
  };

  const begin = (keeps: boolean): void => {
    begun = true;
    if (keeps) store = createStore(declared, limit, memory);
    let refusal: unknown;
    const settle = () => (refusal ? reject(refusal) : resolve(size));
    const keep = (bytes: Buffer) => {
      size += bytes.length;
      try {
        if (size <= limit) store?.add(bytes);
        else store = undefined;
      } catch (error) {
        // What finds no room is read to its end all the same.
        refusal = error;
        store = undefined;
      }
      if (size > limit) settle();
      if (size > limit + drainLimit) request.destroy();
    };
    const finish = () => {
      reads?.flush();
      store?.trim();
      settle();
    };
    request.on('end', finish);
    reads?.takeBy(keep);
    const onClose = () => {
      if (request.readableEnded) finish();
      else reject(refusal ?? brokenOff());
    };
    request.on('close', onClose);
    if (request.closed) onClose();

    // What is dropped takes no memory that others may need.
    const isSlow = (part: number) => keeps && declared !== undefined && size < part * declared;
    const stopWatching = watchArrival(cutShort, isSlow, giveUp);
    arrived.then(stopWatching, stopWatching);
  };

  const read = (keeps: boolean): Promise<number> => {
    if (declared === 0) return Promise.resolve(0);
    // What the client was never asked to send need not be dropped.
    if (ask && !keeps && !begun && declared !== undefined) return Promise.resolve(declared);
    if (!begun) {
      ask?.();
      begin(keeps);
    }
    return arrived;
  };

  return {
    receive: (most = usualLimit) => {
      limit = Math.min(most, usualLimit);
      // A body that declares itself too large is never kept.
      return read(declared === undefined || declared <= limit);
    },
    drop: () => read(false),
    take: async () => {
      await read(true);
      const bytes = store?.bytes() ?? Buffer.alloc(0);
      store = undefined;
      return bytes;
    },
    over: async () => {
      store = undefined;
      const whole = await read(false).catch(() => undefined);
      return whole !== undefined && whole <= limit && (request.complete || !ask);
    },
  };
}

/**
 * Gives a body up when its time is over, or with the process; from a sixth of the time on also if it is slow, which is asked with
 * the part of the time that has passed. Returns what ends the watch.
 */
function watchArrival(
  cutShort: AbortSignal,
  isSlow: (part: number) => boolean,
  giveUp: (reason: unknown) => void,
): () => void {
  const begun = performance.now();
  const timer = setInterval(() => {
    const part = (performance.now() - begun) / arrivalTime;
    if (part >= 1) giveUp(tooLate());
    else if (part >= 1 / 6 && isSlow(part)) giveUp(tooSlow());
  }, arrivalTime / 60);
  const giveUpWithProcess = () => giveUp(cutShort.reason);
  if (cutShort.aborted) giveUpWithProcess();
  cutShort.addEventListener('abort', giveUpWithProcess);
  return () => {
    clearInterval(timer);
    cutShort.removeEventListener('abort', giveUpWithProcess);
  };
}

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
