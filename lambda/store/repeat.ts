import { createRetryBudget } from './retry-budget.ts';
import { isThrottled, isTrouble, mayBeDone, ServiceError } from './service-error.ts';
import { timeLimit } from './time-limit.ts';

export const attempts = 3;
/** The longest pause before the second attempt, in milliseconds; before the third it is twice as long. */
const firstPause = 100;

export interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

/** Gets the attempt with this number ready to be sent. */
export type Prepare<T> = (attempt: number) => Promise<() => Promise<T>>;

export type Repeat = <T>(prepare: Prepare<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Makes a call, and repeats it if no answer came or the service was in trouble. The call may have been carried out anyway, so it
 * must be safe to carry out twice.
 */
export function createRepeat({ now, random, pause }: Dependencies): Repeat {
  const budget = createRetryBudget();

  return async (prepare, signal) => {
    let startedAt: number | undefined;
    let failure: unknown;
    let spent: number | undefined;
    let inDoubt = false;
    for (let attempt = 1; ; ) {
      const send = await prepare(attempt);
      startedAt ??= now();
      // An environment may have been frozen since the attempt before.
      if (now() - startedAt >= timeLimit) throw failure;
      try {
        const answer = await send();
        budget.earn(spent);
        return answer;
      } catch (error) {
        if (error instanceof ServiceError) error.inDoubt = inDoubt;
        failure = error;
        inDoubt = mayBeDone(error);
        // A connection that was closed while idle is no sign of trouble: no need to wait, and each attempt leaves one fewer.
        if (error instanceof ServiceError && error.onKeptConnection) continue;
        if (attempt === attempts || !isTrouble(error)) throw error;
        spent = budget.spend(isThrottled(error));
        if (spent === undefined) throw error;
        await pause(random() * firstPause * attempt, signal);
        attempt += 1;
      }
    }
  };
}
