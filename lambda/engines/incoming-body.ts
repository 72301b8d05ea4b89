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
  readonly timeLimit?: number;
}

/** A body that is still arriving. */
export interface IncomingBody {
  /** Reads and keeps it. Returns its size, or any size above the limit if it is too large. */
  receive(): Promise<number>;
  /** Reads and drops it. Returns the same. */
  drop(): Promise<number>;
  /** The body that was received, once. */
  take(): Promise<Body>;
  /** Resolves when there is nothing left to wait for, with whether the body was complete. Drops it if nobody read it. */
  over(): Promise<boolean>;
}

export function createIncomingBody(request: IncomingMessage, circumstances: Circumstances): IncomingBody {
  const { limit, room, cutShort, timeLimit = arrivalTime } = circumstances;
  const declared = declaredSize(request);
  let reading: Promise<number> | undefined;
  let kept: Buffer | undefined;

  const receive = async (): Promise<number> => {
    const bytes = await readBody(request, limit, room.take);
    if (bytes === undefined) throw brokenOff();
    if (bytes.length <= limit) kept = withoutSlack(bytes, room);
    return bytes.length;
  };

  const drop = async (): Promise<number> => {
    const size = await skipBody(request, limit);
    if (size === undefined) throw brokenOff();
    return size;
  };

  const read = (how: () => Promise<number>): Promise<number> => {
    if (declared === 0) return Promise.resolve(0);
    reading ??= inTime(how, cutShort, timeLimit);
    return reading;
  };

  return {
    // A body that declares itself too large is never kept.
    receive: () => read(declared !== undefined && declared > limit ? drop : receive),
    drop: () => read(drop),
    take: async () => {
      await read(receive);
      const bytes = kept ?? Buffer.alloc(0);
      kept = undefined;
      return bytes;
    },
    over: async () => {
      const size = await read(drop).catch(() => undefined);
      return size !== undefined && size <= limit;
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

async function inTime(read: () => Promise<number>, cutShort: AbortSignal, timeLimit: number): Promise<number> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow(timeLimit)), timeLimit);
  const giveUp = () => reject(cutShort.reason);
  if (cutShort.aborted) giveUp();
  cutShort.addEventListener('abort', giveUp);
  try {
    return await Promise.race([read(), tooLate]);
  } finally {
    clearTimeout(timer);
    cutShort.removeEventListener('abort', giveUp);
  }
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_request', 'The request body broke off before its end. Send all of it.');
}

function tooSlow(timeLimit: number): GatewayError {
  const message = `The request body did not arrive within ${timeLimit / 1000} seconds. Please try again.`;
  return new GatewayError('invalid_request', message, { status: 408 });
}
