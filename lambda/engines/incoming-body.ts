import type { IncomingMessage } from 'node:http';
import type { Body } from '../http/call.ts';
import { GatewayError } from '../http/errors.ts';
import type { Room } from '../http/room.ts';
import { declaredSize, readBody, skipBody } from './read-body.ts';

/** How long a body may take to arrive, from the end of its request's head. */
const arrivalTime = 60_000;

interface Circumstances {
  /** In bytes; a larger body is not kept. */
  readonly limit: number;
  readonly room: Room;
  /** Aborts with the error to refuse the request with. */
  readonly cutShort: AbortSignal;
  /** Asks for the body, if the client waits for that; undefined if it sends the body unasked. */
  readonly ask: (() => void) | undefined;
  readonly timeLimit?: number;
}

/** A body that is still arriving. */
export interface IncomingBody {
  /** Reads and keeps it, up to a limit of its own if one is given. Returns its size, or any above the limit if it is too large. */
  receive(limit?: number): Promise<number>;
  /** Reads and drops it. Returns the same. */
  drop(): Promise<number>;
  /** The body that was received, once. */
  take(): Promise<Body>;
  /** Resolves when there is nothing left to wait for, with whether the body was complete. Drops it, whoever read it. */
  over(): Promise<boolean>;
}

export function createIncomingBody(request: IncomingMessage, circumstances: Circumstances): IncomingBody {
  const { limit: usualLimit, room, ask } = circumstances;
  const declared = declaredSize(request);
  let limit = usualLimit;
  let reading: Promise<number> | undefined;
  let kept: Buffer | undefined;

  const receive = async (signal: AbortSignal): Promise<number> => {
    const bytes = await readBody(request, limit, room.take, signal);
    if (bytes === undefined) throw brokenOff();
    if (bytes.length <= limit) kept = withoutSlack(bytes, room);
    return bytes.length;
  };

  const drop = async (): Promise<number> => {
    const size = await skipBody(request, limit);
    if (size === undefined) throw brokenOff();
    return size;
  };

  const read = (how: (signal: AbortSignal) => Promise<number>): Promise<number> => {
    if (declared === 0) return Promise.resolve(0);
    // What was never asked for need not be dropped.
    if (ask && how === drop && !reading && declared !== undefined) return Promise.resolve(declared);
    if (!reading) ask?.();
    reading ??= inTime(request, how, { ...circumstances, paced: how === receive });
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
function withoutSlack(bytes: Buffer, room: Room): Buffer {
  const slack = bytes.buffer.byteLength - bytes.length;
  if (slack === 0) return bytes;
  room.leave(slack);
  return Buffer.from(bytes);
}

/** Gives a body up that takes too long, or that nobody can wait for any more, and leaves the room it has taken. */
async function inTime(
  request: IncomingMessage,
  read: (signal: AbortSignal) => Promise<number>,
  { room, cutShort, timeLimit = arrivalTime, paced }: Circumstances & { readonly paced: boolean },
): Promise<number> {
  const late = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (reason: unknown) => {
    late.abort(reason);
    room.leave();
    reject(reason);
  };
  const giveUpWithProcess = () => giveUp(cutShort.reason);
  if (cutShort.aborted) giveUpWithProcess();
  cutShort.addEventListener('abort', giveUpWithProcess);
  // What is dropped takes no room that others may need.
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
  return new GatewayError('service_unavailable', message, { refund: true, reason: 'slow_body' });
}
