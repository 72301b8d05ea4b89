import { setTimeout as wait } from 'node:timers/promises';
import { timeLimit } from '../settings/refresh.ts';

interface Failure {
  /** Of the answer; absent if none came. */
  readonly status?: number;
  /** The rest of the service's answer. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** Whether the call may have been carried out although no answer says so, at this attempt or one before. */
  readonly inDoubt?: boolean;
  /** The connection had been used before, and was closed before anything came: perhaps long ago. */
  readonly wasClosed?: boolean;
}

/** A failed call to a service. */
export class ServiceError extends Error {
  readonly status: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** The code of the connection's failure, for the log. */
  readonly code: string | undefined;
  readonly wasClosed: boolean;
  inDoubt: boolean;

  constructor(name: string, message: string, { status, details = {}, cause, ...rest }: Failure = {}) {
    super(message, { cause });
    this.name = name;
    this.status = status;
    this.details = details;
    this.code = Error.isError(cause) && 'code' in cause ? String(cause.code) : undefined;
    this.wasClosed = rest.wasClosed ?? false;
    this.inDoubt = rest.inDoubt ?? (status === undefined || status >= 500);
  }

  /** Whether no answer came, the service was in trouble, nobody renewed the credentials, or the clock was wrong, as it no longer is. */
  get isTrouble(): boolean {
    if (this.status === undefined || this.status >= 500 || this.isAboutTime) return true;
    return /Throttl|ThroughputExceeded|RequestLimitExceeded|ExpiredToken/.test(this.name);
  }

  /** Whether nothing is wrong with the call: the service is in trouble, or what it calls is not there, or not allowed to this caller. */
  get isOutage(): boolean {
    return this.isTrouble || /ResourceNotFound|AccessDenied|UnrecognizedClient|InvalidSignature/.test(this.name);
  }

  /** Whether a signature was refused for its time. */
  get isAboutTime(): boolean {
    if (this.name === 'InvalidSignatureException') return /Signature (expired|not yet current)/.test(this.message);
    return /TooSkewed|RequestExpired|InTheFuture/.test(this.name);
  }
}

/** Whether a write was refused for its condition. The item says whether a copy of it came before. */
export function isConditionFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.name === 'ConditionalCheckFailedException';
}

/** The name of the error of a call that is not answered in time. */
export const tooSlow = 'TooSlow';
export const attempts = 3;
/** The longest pause before the second attempt, in milliseconds; before the third it is twice as long. */
const firstPause = 100;
/** For repeats while nothing succeeds, with the SDK's numbers: enough for 35. */
const budgets = { full: 500, repeat: 14, earnedByFirstAttempt: 1 } as const;

/** The time that a call has for all its attempts. An abort signal would do the same, at ten times the cost. */
export interface Deadline {
  isOver: boolean;
  /** Called once when it is over. Each attempt sets what gives it up. */
  giveUp: () => void;
}

/** Makes the attempt with this number. */
type Attempt<T> = (number: number, patience: Deadline) => Promise<T>;

interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Makes calls, and repeats each if no answer came or the service was in trouble. The call may have been carried out anyway, so
 * it must be safe to carry out twice. If all calls of a process repeated while a service is in trouble, they would multiply its
 * load: once the budget is spent, a call fails at its first attempt until others have succeeded.
 */
export function createRepeat({ now, random, pause = wait }: Dependencies) {
  let budget: number = budgets.full;

  return async <T>(attempt: Attempt<T>): Promise<T> => {
    const startedAt = now();
    const patience: Deadline = { isOver: false, giveUp: () => {} };
    const timer = setTimeout(() => {
      patience.isOver = true;
      patience.giveUp();
    }, timeLimit);
    let inDoubt = false;
    try {
      for (let number = 1; ; ) {
        try {
          const answer = await attempt(number, patience);
          budget = Math.min(budgets.full, budget + (number === 1 ? budgets.earnedByFirstAttempt : budgets.repeat));
          return answer;
        } catch (thrown) {
          if (!(thrown instanceof ServiceError) && !inDoubt) throw thrown;
          const error =
            thrown instanceof ServiceError ? thrown : new ServiceError('NotSent', 'not sent', { cause: thrown });
          inDoubt = error.inDoubt ||= inDoubt;
          // A connection that was closed while idle is no sign of trouble: no need to wait, and each attempt leaves one fewer.
          if (!patience.isOver && !error.wasClosed) {
            if (number === attempts || !error.isTrouble || budget < budgets.repeat) throw error;
            budget -= budgets.repeat;
            await pause(random() * firstPause * number);
            number += 1;
          }
          if (patience.isOver) throw new ServiceError(tooSlow, 'no answer in time', { cause: error, inDoubt });
          // The timer stands still in an environment that is frozen.
          if (now() - startedAt >= timeLimit) throw error;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  };
}
