import { randomFillSync } from 'node:crypto';
import type { Budget, BudgetWindow, Reserved } from '../budget/budget-window.ts';
import type { Day } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import type { PublicModel } from '../settings/models.ts';

/** Addresses a caller's counters. */
export interface CountedPeriod {
  /** Identifies the caller. */
  readonly item: string;
  /** The number of the day (or another interval) since the epoch; absent for a lifetime count. */
  readonly period?: number;
  /** Absent for a caller without a budget. */
  readonly budget?: { readonly period: string };
  /** For the burst counter; absent if it is not needed. */
  readonly minute?: number;
}

/** The budget that a charge counts against. Amounts are micros. */
export interface CounterBudget extends Budget {
  /** The name of the current period: `m682`. */
  readonly period: string;
  /** When the next period begins. */
  readonly resetAt: number;
  /** What the request may cost; absent if nothing should be reserved. */
  readonly reserve?: number | undefined;
}

/** The counters for a charge, with their limits. Times are epoch milliseconds. */
export interface CounterWindow extends CountedPeriod {
  readonly limit: number;
  /** The most charges in one minute. */
  readonly burst: number;
  /** The minute of the charge, since the epoch. */
  readonly minute: number;
  /** When the count resets; absent if it never does. */
  readonly resetAt?: number;
  /** When the item may be deleted; absent if never. */
  readonly expiresAt?: number;
  readonly budget?: CounterBudget;
}

/** An amount set aside for a request until the cost of its answer is known. */
export interface OpenReservation extends Reserved {
  /** Unique. */
  readonly name: string;
  /** Usage by model of past periods, still in the item, for the settlement to remove. */
  readonly outdatedUses?: readonly string[];
}

/** The usage of an answer. */
export interface UsedTokens {
  readonly kind: PublicModel['kind'];
  readonly input: number;
  readonly output: number;
}

/** The usage and cost of one model in a budget period. */
export interface ModelUse extends UsedTokens {
  readonly spent: number;
}

/** How a reservation ends. */
export interface Settlement {
  readonly spent: number;
  readonly refunded?: boolean;
  /** Absent if it should not be counted by model. */
  readonly used?: UsedTokens | undefined;
}

/** The values of a caller's counters. */
export interface CounterState {
  readonly used: number;
  /** Charges in the minute, refunded or not. */
  readonly inMinute: number;
  /** Everything spent or reserved in the budget period. */
  readonly taken: number;
  /** The open reservations of all periods. */
  readonly open: readonly OpenReservation[];
}

export type ChargeResult = CounterState &
  (
    | { readonly granted: true; readonly reservation?: OpenReservation | undefined }
    | { readonly granted: false; readonly reason: 'quota' | 'budget' | 'burst' }
  );

/** Counts charges. It knows nothing of guests, members or days. An idempotency token makes retries of a write count once. */
export interface Counters {
  /** Counts one charge and reserves what it may cost, if all limits allow it. */
  charge(window: CounterWindow, token: string): Promise<ChargeResult>;
  /** Undoes the charge with this token. Returns undefined if there was nothing to undo. */
  refund(counted: CountedPeriod, token: string): Promise<CounterState | undefined>;
  /**
   * Replaces a reservation by what was spent, and for a refund undoes the charge too. Happens once: returns undefined if the
   * reservation was already gone.
   */
  settle(
    counted: CountedPeriod,
    reservation: OpenReservation,
    settlement: Settlement,
  ): Promise<CounterState | undefined>;
  /** `uses`: by model, in the budget period. */
  read(counted: CountedPeriod): Promise<CounterState & { readonly uses: readonly ModelUse[] }>;
}

/** One day's counts of all callers together. */
export interface GlobalCounts {
  readonly requests: number;
  /** How many of them came from guests, if guests have a limit. */
  readonly guests: number;
  /** In micros. */
  readonly spent: number;
}

/** Daily counters of all callers together. Writes are not idempotent: one whose response is lost may count twice. */
export interface GlobalCounters {
  /** Adds these amounts, unless a count has already reached its `most`. Returns the counts afterwards. */
  add(
    day: Day,
    amounts: Partial<GlobalCounts>,
    most?: Partial<GlobalCounts>,
  ): Promise<{ readonly added: boolean; readonly counts: GlobalCounts }>;
  read(period: number): Promise<GlobalCounts>;
}

/** A page of all callers' counters. */
export interface ScannedCounters {
  /** How many items were read. */
  readonly scanned: number;
  readonly counters: readonly ScannedCounter[];
}

export interface ScannedCounter {
  readonly item: string;
  readonly usedToday: number;
  readonly usedInLifetime: number;
  /** For each budget window, the state in its current period. */
  readonly budgets: Readonly<Record<BudgetWindow, Omit<CounterState, 'used'>>>;
}

/** The `reason` of an error that leaves it unknown whether the operation was carried out. */
export const lostAnswer = 'answer_lost';

export function isAnswerLost(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === lostAnswer;
}

const tokenBytes = 8;
const randomBytes = Buffer.alloc(512 * tokenBytes);
let unused = 0;

/** An idempotency token, shared by all retries of a write: 64 random bits in base64. Drawing 512 at once makes each ten times cheaper. */
export function createToken(): string {
  if (unused === 0) unused = randomFillSync(randomBytes).length;
  unused -= tokenBytes;
  return randomBytes.toString('base64', unused, unused + tokenBytes);
}

/** The token for a write that replaces the write with this token. */
export function nextToken(token: string): string {
  const bytes = Buffer.from(token, 'base64');
  return Buffer.from(bytes.with(-1, ((bytes.at(-1) ?? 0) + 1) & 0xff)).toString('base64');
}

/** Derives a token for a related write: `r` for the refund, `x` for giving up. */
export function markToken(token: string, mark: 'r' | 'x'): string {
  return Buffer.concat([Buffer.from(token, 'base64'), Buffer.from(mark)]).toString('base64');
}
