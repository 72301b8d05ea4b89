import { randomFillSync } from 'node:crypto';
import type { Budget, BudgetWindow, Reserved } from '../budget/budget-window.ts';
import type { Day } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import type { PublicModel } from '../settings/models.ts';

/** Where a caller's charges are counted. */
export interface CountedPeriod {
  /** Names the caller. */
  readonly item: string;
  /** The number of the day, or of another length of time, since the epoch; absent for a count without an end. */
  readonly period?: number;
  /** Where money is counted; absent for a caller without a budget. */
  readonly budget?: { readonly period: string };
  /** Where the burst is counted; absent where nobody asks for it. */
  readonly minute?: number;
}

/** A budget for a charge. Amounts are micros. */
export interface CounterBudget extends Budget {
  /** The name of the current period: `m682`. */
  readonly period: string;
  /** When the next one begins. */
  readonly resetAt: number;
  /** What the request may cost; absent if nothing is to be reserved. */
  readonly reserve?: number | undefined;
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
  readonly budget?: CounterBudget;
}

/** An amount set aside for one request until it is known what its answer cost. */
export interface OpenReservation extends Reserved {
  /** What it is stored under, unlike any other. */
  readonly name: string;
  /** What the item still had of earlier periods by model, for the settlement to remove. */
  readonly outdatedUses?: readonly string[];
}

/** What an answer of one of the public models used. */
export interface UsedTokens {
  readonly kind: PublicModel['kind'];
  readonly input: number;
  readonly output: number;
}

/** What all answers of one of them used in a budget's period, and cost. */
export interface ModelUse extends UsedTokens {
  readonly spent: number;
}

/** What becomes of a reservation. */
export interface Settlement {
  readonly spent: number;
  readonly refunded?: boolean;
  /** Absent if it is not to be counted by model. */
  readonly used?: UsedTokens | undefined;
}

/** The counts of a caller. */
export interface CounterState {
  readonly used: number;
  /** Charges of the minute, refunded or not. */
  readonly inMinute: number;
  /** Of the budget's period: all that is spent or reserved. */
  readonly taken: number;
  /** The open reservations of all periods. */
  readonly open: readonly OpenReservation[];
}

export type ChargeResult = CounterState &
  (
    | { readonly granted: true; readonly reservation?: OpenReservation | undefined }
    | { readonly granted: false; readonly reason: 'quota' | 'budget' | 'burst' }
  );

/** Counts charges. It knows counters, but not guests, members or days. A token makes all copies of a write count once. */
export interface Counters {
  /** Counts one charge, and reserves what it may cost, if all limits allow it. */
  charge(window: CounterWindow, token: string): Promise<ChargeResult>;
  /** Takes the charge with this token back. Returns undefined if there was nothing to undo. */
  refund(counted: CountedPeriod, token: string): Promise<CounterState | undefined>;
  /**
   * Replaces a reservation by what was spent, and takes the charge of a refunded request back. Only once: returns undefined if
   * the reservation was gone already.
   */
  settle(
    counted: CountedPeriod,
    reservation: OpenReservation,
    settlement: Settlement,
  ): Promise<CounterState | undefined>;
  /** `uses`: of the budget's period. */
  read(counted: CountedPeriod): Promise<CounterState & { readonly uses: readonly ModelUse[] }>;
}

/** What all callers of the deployment have used on one day. */
export interface GlobalCounts {
  readonly requests: number;
  /** Those of guests among them, where guests have a limit. */
  readonly guests: number;
  /** In micros. */
  readonly spent: number;
}

/** A tally for each day. Nothing marks the copies of a write: if its answer is lost, it may count twice. */
export interface GlobalCounters {
  /** Adds these amounts, unless one of the sums is its `most` already. Returns the sums after that. */
  add(
    day: Day,
    amounts: Partial<GlobalCounts>,
    most?: Partial<GlobalCounts>,
  ): Promise<{ readonly added: boolean; readonly tally: GlobalCounts }>;
  read(period: number): Promise<GlobalCounts>;
}

/** A page of everybody's counters. */
export interface ScannedCounters {
  /** How many items were looked at. */
  readonly scanned: number;
  readonly counters: readonly ScannedCounter[];
}

export interface ScannedCounter {
  readonly item: string;
  readonly usedToday: number;
  readonly usedInLifetime: number;
  /** What is counted in the current period of each kind of budget. */
  readonly budgets: Readonly<Record<BudgetWindow, Omit<CounterState, 'used'>>>;
}

/** The `reason` of an error after which it is unknown whether the operation was carried out. */
export const lostAnswer = 'answer_lost';

export function isAnswerLost(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === lostAnswer;
}

const tokenBytes = 8;
const randomBytes = Buffer.alloc(512 * tokenBytes);
let unused = 0;

/** An idempotency token, the same in all copies of a write: 64 random bits in base64. Drawn for 512 tokens at once, each is ten times cheaper. */
export function createToken(): string {
  if (unused === 0) unused = randomFillSync(randomBytes).length;
  unused -= tokenBytes;
  return randomBytes.toString('base64', unused, unused + tokenBytes);
}

/** Another token, for a write that replaces the one with this token. */
export function nextToken(token: string): string {
  const bytes = Buffer.from(token, 'base64');
  return Buffer.from(bytes.with(-1, ((bytes.at(-1) ?? 0) + 1) & 0xff)).toString('base64');
}

/** The token for something else that concerns the same write: `r` for its refund, `x` for giving it up. */
export function markToken(token: string, mark: 'r' | 'x'): string {
  return Buffer.concat([Buffer.from(token, 'base64'), Buffer.from(mark)]).toString('base64');
}
