import { setTimeout as wait } from 'node:timers/promises';
import { timeLimit } from '../settings/refresh.ts';

interface Failure {
  /** Absent if there was no response. */
  readonly status?: number;
  /** The rest of the response. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** Whether this attempt, or an earlier one, may have been carried out although its response was lost. */
  readonly inDoubt?: boolean;
  /** A keep-alive connection was closed before any response, perhaps long ago. */
  readonly wasClosed?: boolean;
}

/** A failed call to a service. */
export class ServiceError extends Error {
  readonly status: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** The error code of a failed connection, such as ECONNRESET, for the log. */
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

  /** Whether a retry may help: no response, a failing or throttling service, expired credentials, or clock skew (now corrected). */
  get isTrouble(): boolean {
    if (this.status === undefined || this.status >= 500 || this.isAboutTime) return true;
    return /Throttl|ThroughputExceeded|RequestLimitExceeded|ExpiredToken/.test(this.name);
  }

  /** Whether the store can't be used, rather than the call being wrong: in trouble, missing, or access denied. */
  get isOutage(): boolean {
    return this.isTrouble || /ResourceNotFound|AccessDenied|UnrecognizedClient|InvalidSignature/.test(this.name);
  }

  /** Whether a signature was refused because of clock skew. */
  get isAboutTime(): boolean {
    if (this.name === 'InvalidSignatureException') return /Signature (expired|not yet current)/.test(this.message);
    return /TooSkewed|RequestExpired|InTheFuture/.test(this.name);
  }
}

/** Whether a write failed its condition. The item then shows whether an earlier attempt of the same write was applied. */
export function isConditionFailure(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.name === 'ConditionalCheckFailedException';
}

/** The error name of a call that timed out. */
export const tooSlow = 'TooSlow';
export const attempts = 3;
/** The longest pause before the second attempt, in milliseconds; before the third it is twice as long. */
const firstPause = 100;
/** The retry budget, with the SDK's numbers: enough for 35 retries while nothing succeeds. */
const budgets = { full: 500, repeat: 14, earnedByFirstAttempt: 1 } as const;

/** The time limit of a call, for all attempts together. An AbortSignal would do the same at ten times the cost. */
export interface Deadline {
  isOver: boolean;
  /** Called once at the deadline. Each attempt sets it, to abort itself. */
  giveUp: () => void;
}

type Attempt<T> = (number: number, deadline: Deadline) => Promise<T>;

interface Dependencies {
  readonly now: () => number;
  readonly random: () => number;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Retries calls that got no response or found the service in trouble. Calls must be idempotent, because an attempt may have been
 * carried out all the same. Retries draw on a budget that the whole process shares, so that they don't multiply the load on a
 * struggling service: once it is empty, calls fail at their first attempt until others succeed.
 */
export function createRepeat({ now, random, pause = wait }: Dependencies) {
  let budget: number = budgets.full;

  return async <T>(attempt: Attempt<T>): Promise<T> => {
    const startedAt = now();
    const deadline: Deadline = { isOver: false, giveUp: () => {} };
    const timer = setTimeout(() => {
      deadline.isOver = true;
      deadline.giveUp();
    }, timeLimit);
    let inDoubt = false;
    try {
      for (let number = 1; ; ) {
        try {
          const output = await attempt(number, deadline);
          budget = Math.min(budgets.full, budget + (number === 1 ? budgets.earnedByFirstAttempt : budgets.repeat));
          return output;
        } catch (thrown) {
          if (!(thrown instanceof ServiceError) && !inDoubt) throw thrown;
          const error =
            thrown instanceof ServiceError ? thrown : new ServiceError('NotSent', 'not sent', { cause: thrown });
          inDoubt = error.inDoubt ||= inDoubt;
          // A connection that was closed while idle is no sign of trouble: retry at once. Each attempt uses up one such connection.
          if (!deadline.isOver && !error.wasClosed) {
            if (number === attempts || !error.isTrouble || budget < budgets.repeat) throw error;
            budget -= budgets.repeat;
            await pause(random() * firstPause * number);
            number += 1;
          }
          if (deadline.isOver) throw new ServiceError(tooSlow, 'no answer in time', { cause: error, inDoubt });
          // Timers stand still while Lambda freezes the process, so the clock is checked as well.
          if (now() - startedAt >= timeLimit) throw error;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  };
}
