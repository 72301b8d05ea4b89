import { GatewayError } from '../http/errors.ts';
import { lostAnswer } from '../quota/counters.ts';
import { isTrouble, mayBeDone } from './service-error.ts';

/** How long one operation may take in all, retries and their pauses included. */
export const timeLimit = 2000;
const parallel = 32;

const slow = 'the store is too slow';
const message = 'The gateway cannot reach its own store right now. Please try again in a moment.';

export type TimeLimit = <T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>) => Promise<T>;

/**
 * Runs operations. A store that is down, throttled or slow becomes `service_unavailable`; other errors pass.
 * Only `parallel` operations run at once. The time limit of one that waits for its turn has not started, or a busy server would
 * mistake its own queue for a slow store. If an operation is too slow, those that have waited as long are refused with it, so
 * that a store that is down keeps nobody waiting turn after turn.
 */
export function createTimeLimit(): TimeLimit {
  let running = 0;
  const waiting: { readonly turn: PromiseWithResolvers<void>; readonly since: number }[] = [];
  const waitForTurn = (): Promise<void> => {
    const turn = Promise.withResolvers<void>();
    waiting.push({ turn, since: performance.now() });
    return turn.promise;
  };
  const refuseWaiting = (error: GatewayError): void => {
    const latest = performance.now() - timeLimit;
    while (waiting[0] && waiting[0].since <= latest) waiting.shift()?.turn.reject(error);
  };
  return async (send) => {
    if (running < parallel) running += 1;
    else await waitForTurn();
    try {
      return await withinTimeLimit(send, refuseWaiting);
    } finally {
      const next = waiting.shift();
      if (next) next.turn.resolve();
      else running -= 1;
    }
  };
}

async function withinTimeLimit<T>(
  send: (limit: { abortSignal: AbortSignal }) => Promise<T>,
  onSlow: (error: GatewayError) => void,
): Promise<T> {
  const controller = new AbortController();
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // The SDK ignores the signal while it pauses before a retry, hence the race.
    const tooLate = new Error(slow);
    tooSlow.reject(outage(tooLate, true));
    onSlow(outage(tooLate, false));
    controller.abort();
  }, timeLimit);
  try {
    return await Promise.race([send({ abortSignal: controller.signal }), tooSlow.promise]);
  } catch (error) {
    throw isTrouble(error) ? outage(error, mayBeDone(error)) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether an operation failed, or was refused, because one took longer than the time limit. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof Error && (error.message === slow || isTooSlow(error.cause));
}

/** The error for the client. If an answer was lost, the operation may have been carried out. */
export function outage(cause: unknown, answerLost: boolean): GatewayError {
  return new GatewayError('service_unavailable', message, { cause, ...(answerLost && { reason: lostAnswer }) });
}
