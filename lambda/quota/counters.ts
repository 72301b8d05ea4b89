/** What one charge counts in, and the limits that hold there. Times are epoch milliseconds. */
export interface CounterWindow {
  /** Names the counter; another window is another counter. */
  readonly item: string;
  readonly limit: number;
  /** How many charges one minute takes. */
  readonly burst: number;
  /** The minute since the epoch that the charge belongs to. */
  readonly minute: number;
  /** When the counter starts anew; absent for one that never does. */
  readonly resetAt?: number;
  /** When nobody asks for the counter any more; absent for one that is kept. */
  readonly expiresAt?: number;
}

export type ChargeResult =
  | { readonly granted: true; readonly used: number }
  | { readonly granted: false; readonly used: number; readonly reason: 'quota' | 'burst' };

/**
 * Where charges are counted: it knows counters and nothing of guests, members or days. A token makes one of all the copies
 * of a write: see token.ts.
 */
export interface Counters {
  /** Counts one charge where both limits allow it. */
  charge(window: CounterWindow, token: string): Promise<ChargeResult>;
  /** Takes one charge back; to be called once for each. The new count, or undefined where there was nothing to undo. */
  refund(item: string, token: string): Promise<number | undefined>;
  /** How many charges stand. */
  read(item: string): Promise<number>;
}
