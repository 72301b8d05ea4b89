import { timeLimit } from '../aws/call-service.ts';
import { isConditionFailure, isTrouble, mayBeDone, ServiceError } from '../aws/service-error.ts';
import { GatewayError } from '../errors.ts';
import { lostAnswer } from '../quota/counter-store.ts';

/** How many operations run at once. */
const parallel = 32;

const message = 'The gateway cannot reach its own store right now. Please try again in a moment.';

export type TimeLimit = <T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>) => Promise<T>;

/**
 * Runs operations, `parallel` of them at once. A store that is down, throttled or slow becomes `service_unavailable`; other errors
 * pass. The time limit of an operation begins when it is sent, or a busy server would mistake its own queue for a slow store.
 */
export function createTimeLimit(): TimeLimit {
  let running = 0;
  let answers = 0;
  /** By their number in the queue: shifting a long array walks all of it. */
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let [first, next] = [0, 0];

  const waitInQueue = (): Promise<void> => {
    const turn = Promise.withResolvers<void>();
    waiting.set(next++, turn);
    return turn.promise;
  };
  const takeFirst = (): PromiseWithResolvers<void> | undefined => {
    const turn = waiting.get(first);
    if (turn) waiting.delete(first++);
    return turn;
  };
  const refuseWaiting = (error: GatewayError): void => {
    for (let turn = takeFirst(); turn; turn = takeFirst()) turn.reject(error);
  };

  return async (send) => {
    if (running < parallel) running += 1;
    else await waitInQueue();
    const before = answers;
    try {
      // If nothing was answered in that time, the store is down, and nobody shall wait for one time limit after another.
      const answer = await withinTimeLimit(send, (error) => answers === before && refuseWaiting(error));
      answers += 1;
      return answer;
    } catch (error) {
      const isLost = mayBeDone(error) && !isConditionFailure(error);
      if (isLost || isTrouble(error)) throw outage(error, isLost);
      if (!(error instanceof GatewayError)) answers += 1;
      throw error;
    } finally {
      const turn = takeFirst();
      if (turn) turn.resolve();
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
    const tooLate = new ServiceError('TooSlow', 'the store is too slow');
    tooSlow.reject(outage(tooLate, true));
    onSlow(outage(tooLate, false));
    controller.abort();
  }, timeLimit);
  try {
    return await Promise.race([send({ abortSignal: controller.signal }), tooSlow.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error for the client. If an answer was lost, the operation may have been carried out. The log shows what was behind it. */
export function outage(error: unknown, answerLost: boolean): GatewayError {
  const cause = error instanceof GatewayError ? error.cause : error;
  const reason = answerLost ? lostAnswer : undefined;
  return new GatewayError('service_unavailable', message, { source: 'store', reason, cause });
}
