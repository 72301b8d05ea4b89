import { startOfMinute } from '../budget/time.ts';
import type { CounterState, CounterWindow } from '../store/counters.ts';

/** A caller's quota as response headers show it. Times are epoch milliseconds. */
export interface QuotaSnapshot {
  readonly limit: number;
  /** Never negative, even if a limit was lowered below what is used. */
  readonly remaining: number;
  /** When the quota resets; absent if it never does. */
  readonly resetAt?: number | undefined;
  /** For the minute of the charge. */
  readonly burst?: { readonly limit: number; readonly remaining: number; readonly resetAt: number };
  /** In micros; only for a caller with a budget. */
  readonly budget?: { readonly limit: number; readonly remaining: number; readonly resetAt: number };
}

/** Whether a snapshot is of a day or budget period that has ended. A response may start minutes after its charge. */
export function isExpired({ resetAt = Number.POSITIVE_INFINITY, budget }: QuotaSnapshot, now: number): boolean {
  return Math.min(resetAt, budget?.resetAt ?? resetAt) <= now;
}

/** The snapshot of a counter that was just read or written. */
export function snapshotOf(
  window: CounterWindow,
  { used, inMinute, taken }: Pick<CounterState, 'used' | 'inMinute' | 'taken'>,
): QuotaSnapshot {
  const { limit, burst, resetAt, budget, minute } = window;
  return {
    limit,
    remaining: Math.max(0, limit - used),
    resetAt,
    burst: { limit: burst, remaining: Math.max(0, burst - inMinute), resetAt: startOfMinute(minute + 1) },
    ...(budget && {
      budget: {
        limit: budget.amount,
        remaining: Math.max(0, budget.amount - taken),
        resetAt: budget.resetAt,
      },
    }),
  };
}

/** The snapshot after a part of a reservation was released. */
export function releaseBudget({ budget, ...snapshot }: QuotaSnapshot, amount: number): QuotaSnapshot {
  if (!budget) return snapshot;
  const remaining = Math.min(budget.limit, Math.max(0, budget.remaining + amount));
  return { ...snapshot, budget: { ...budget, remaining } };
}

/** "1 request", "2 requests" … */
export const inRequests = (count: number): string => `${count} request${count === 1 ? '' : 's'}`;

/** "2 requests are left", for the middle of a sentence. */
export function sayWhatIsLeft({ remaining }: QuotaSnapshot): string {
  return `${remaining === 0 ? 'no requests' : inRequests(remaining)} ${remaining === 1 ? 'is' : 'are'} left`;
}
