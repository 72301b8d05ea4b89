import type { IncomingMessage } from 'node:http';
import { type Memory, smallBody } from '../bodies.ts';
import { GatewayError } from '../errors.ts';
import type { Body } from '../request/call.ts';

/** How long a body may take to arrive, from the end of its request's head. */
const arrivalTime = 60_000;

interface BodyOptions {
  /** In bytes; a larger body is not kept. */
  readonly limit: number;
  readonly memory: Memory;
  /** Aborts with the error to refuse the request with. */
  readonly cutShort: AbortSignal;
  /** Asks for the body, if the client waits for that; undefined if it sends the body by itself. */
  readonly ask: (() => void) | undefined;
  readonly timeLimit?: number;
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

export function createIncomingBody(request: IncomingMessage, options: BodyOptions): IncomingBody {
  const { limit: usualLimit, memory, ask } = options;
  const declared = declaredSize(request);
  let limit = usualLimit;
  let reading: Promise<number> | undefined;
  let kept: Buffer | undefined;

  const receive = async (signal: AbortSignal): Promise<number> => {
    const bytes = await readBody(request, limit, memory.take, signal);
    if (bytes === undefined) throw brokenOff();
    if (bytes.length <= limit) kept = withoutSlack(bytes, memory);
    return bytes.length;
  };

  const drop = async (): Promise<number> => {
    const size = await skipBody(request, limit);
    if (size === undefined) throw brokenOff();
    return size;
  };

  const read = (how: (signal: AbortSignal) => Promise<number>): Promise<number> => {
    if (declared === 0) return Promise.resolve(0);
    // What the client was never asked to send need not be dropped.
    if (ask && how === drop && !reading && declared !== undefined) return Promise.resolve(declared);
    if (!reading) ask?.();
    reading ??= inTime(request, how, { ...options, paced: how === receive });
    return reading;
  };

  return {
    receive: (most = usualLimit) => {
      limit = Math.min(most, usualLimit);
      // A body that declares itself too large is never kept.
      return read(declared !== undefined && declared > limit ? drop : receive);
    },
    drop: () => read(drop),
    take: async () => {
      await read(receive);
      const bytes = kept ?? Buffer.alloc(0);
      kept = undefined;
      return bytes;
    },
    over: async () => {
      kept = undefined;
      const size = await read(drop).catch(() => undefined);
      return size !== undefined && size <= limit && (request.complete || !ask);
    },
  };
}

/** Copies the bytes if their buffer is larger: one that grew with a body of unknown length may have twice their size. */
function withoutSlack(bytes: Buffer, memory: Memory): Buffer {
  const slack = bytes.buffer.byteLength - bytes.length;
  if (slack === 0) return bytes;
  memory.leave(slack);
  return Buffer.from(bytes);
}

/** Gives a body up that takes too long, or that nobody can wait for any more, and frees the memory that it has taken. */
async function inTime(
  request: IncomingMessage,
  read: (signal: AbortSignal) => Promise<number>,
  { memory, cutShort, timeLimit = arrivalTime, paced }: BodyOptions & { readonly paced: boolean },
): Promise<number> {
  const late = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (reason: unknown) => {
    late.abort(reason);
    memory.leave();
    reject(reason);
  };
  const giveUpWithProcess = () => giveUp(cutShort.reason);
  if (cutShort.aborted) giveUpWithProcess();
  cutShort.addEventListener('abort', giveUpWithProcess);
  // What is dropped takes no memory that others may need.
  const pace = watchPace(request, paced ? declaredSize(request) : undefined, timeLimit, giveUp);
  try {
    return await Promise.race([read(late.signal), givenUp]);
  } finally {
    pace.stop();
    cutShort.removeEventListener('abort', giveUpWithProcess);
  }
}

/**
 * Calls back when the time is over, or earlier if a body of known size is slow: once a sixth of the time has passed, the part
 * that has arrived must be as large as the part of the time that has passed.
 */
function watchPace(
  request: IncomingMessage,
  declared: number | undefined,
  timeLimit: number,
  onLate: (reason: GatewayError) => void,
) {
  const begun = performance.now();
  let arrived = 0;
  request.on('data', (chunk: Buffer) => {
    arrived += chunk.length;
  });
  /** When a body that goes on as slowly would be late. */
  const dueTime = () =>
    declared === undefined ? timeLimit : Math.max(timeLimit / 6, (arrived / declared) * timeLimit);
  const check = () => {
    const passed = performance.now() - begun;
    if (passed >= timeLimit) onLate(tooLate(timeLimit));
    else if (passed >= dueTime()) onLate(tooSlow());
    else timer = setTimeout(check, Math.min(Math.max(dueTime() - passed, timeLimit / 60), timeLimit - passed));
  };
  let timer = setTimeout(check, dueTime());
  return { stop: () => clearTimeout(timer) };
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_request', 'The request body broke off before its end. Send all of it.');
}

function tooLate(timeLimit: number): GatewayError {
  const message = `The request body did not arrive within ${timeLimit / 1000} seconds. Please try again.`;
  return new GatewayError('invalid_request', message, { status: 408 });
}

function tooSlow(): GatewayError {
  const message = 'The request body arrives too slowly to keep memory for it. Please send it faster.';
  return new GatewayError('service_unavailable', message, { reason: 'slow_body' });
}

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
  take: Memory['take'] = () => {},
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
function skipBody(request: IncomingMessage, limit: number): Promise<number | undefined> {
  return readThrough(request, limit, () => {});
}

/** The size of a body that its request's head declares; undefined if only its end will show it. */
function declaredSize({ headers }: IncomingMessage): number | undefined {
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
