import { GatewayError } from '../errors.ts';

/** Where a caller's charges are counted. */
export interface CountedPeriod {
  /** Names the caller. */
  readonly item: string;
  /** The number of the day, or of another length of time, since the epoch; absent for a count without an end. */
  readonly period?: number;
}

/** The counter for a charge and its limits. Times are epoch milliseconds. */
export interface CounterWindow extends CountedPeriod {
  readonly limit: number;
  /** The most charges in one minute. */
  readonly burst: number;
  /** The minute since the epoch that the charge belongs to. */
  readonly minute: number;
  /** When the count restarts; absent for one that never does. */
  readonly resetAt?: number;
  /** When the count is no longer needed; absent for one that is kept. */
  readonly expiresAt?: number;
}

export type ChargeResult =
  | { readonly granted: true; readonly used: number }
  | { readonly granted: false; readonly used: number; readonly reason: 'quota' | 'burst' };

/**
 * Counts charges. It knows counters, but not guests, members or days. A token makes all copies of a write count once: see
 * token.ts.
 */
export interface Counters {
  /** Counts one charge if both limits allow it. */
  charge(window: CounterWindow, token: string): Promise<ChargeResult>;
  /** Takes the charge with this token back. Returns the new count, or undefined if there was nothing to undo. */
  refund(counted: CountedPeriod, token: string): Promise<number | undefined>;
  /** How many charges stand. */
  read(counted: CountedPeriod): Promise<number>;
}

/** Counts requests of the whole deployment. Nothing marks the copies of a write: if its answer is lost, it may count twice. */
export interface Tallies {
  /** Adds one, and returns the new count; undefined if it was `most` already. */
  add(item: string, most: number, expiresAt: number): Promise<number | undefined>;
  subtract(item: string): Promise<void>;
  read(item: string): Promise<number>;
}

/** The `reason` of an error after which it is unknown whether the operation was carried out. */
export const lostAnswer = 'answer_lost';

export function isAnswerLost(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === lostAnswer;
}
