import { GatewayError } from '../http/errors.ts';

/** The counter for a charge and its limits. Times are epoch milliseconds. */
export interface CounterWindow {
  /** Names the counter; another window is another counter. */
  readonly item: string;
  readonly limit: number;
  /** The most charges in one minute. */
  readonly burst: number;
  /** The minute since the epoch that the charge belongs to. */
  readonly minute: number;
  /** When the counter restarts; absent for one that never does. */
  readonly resetAt?: number;
  /** When the counter is no longer needed; absent for one that is kept. */
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
  /** Takes one charge back; call it once for each. Returns the new count, or undefined if there was nothing to undo. */
  refund(item: string, token: string): Promise<number | undefined>;
  /** How many charges stand. */
  read(item: string): Promise<number>;
}

/** The `reason` of an error after which it is unknown whether the operation was carried out. */
export const lostAnswer = 'answer_lost';

export function isAnswerLost(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === lostAnswer;
}
