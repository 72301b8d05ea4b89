import type { CounterWindow, Standing } from './counter-store.ts';
import { minuteOf, secondsUntil, timeOf } from './policy.ts';

/** A client's quota, as its answers show it. */
export interface Figures {
  readonly limit: number;
  /** Never negative, even if a limit was lowered below what is used. */
  readonly remaining: number;
  /** Until the window restarts; absent if it never does. */
  readonly resetSeconds?: number;
  /** Of the current minute. */
  readonly burst?: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };
  /** Of a caller with a budget, in micros. */
  readonly budget?: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };
}

/** The figures after a charge, or of what has been read. */
export function figuresOf(
  window: CounterWindow,
  { used, inMinute, taken }: Pick<Standing, 'used' | 'inMinute' | 'taken'>,
  now: number,
): Figures {
  const { limit, burst, resetAt, budget } = window;
  const minute = minuteOf(now);
  return {
    limit,
    remaining: Math.max(0, limit - used),
    ...(resetAt !== undefined && { resetSeconds: secondsUntil(resetAt, now) }),
    burst: {
      limit: burst,
      // An answer may come minutes after the charge.
      remaining: minute === window.minute ? Math.max(0, burst - inMinute) : burst,
      resetSeconds: secondsUntil(timeOf(minute + 1), now),
    },
    ...(budget && {
      budget: {
        limit: budget.amount,
        remaining: Math.max(0, budget.amount - taken),
        resetSeconds: secondsUntil(budget.resetAt, now),
      },
    }),
  };
}

/** What is left of a budget once so much is given back of what was reserved. */
export function giveBack({ budget, ...figures }: Figures, amount: number): Figures {
  if (!budget) return figures;
  const remaining = Math.min(budget.limit, Math.max(0, budget.remaining + amount));
  return { ...figures, budget: { ...budget, remaining } };
}

/** "1 request", "2 requests" … */
export const inRequests = (count: number): string => `${count} request${count === 1 ? '' : 's'}`;

/** "2 requests are left", for the middle of a sentence. */
export function sayWhatIsLeft({ remaining }: Figures): string {
  return `${remaining === 0 ? 'no requests' : inRequests(remaining)} ${remaining === 1 ? 'is' : 'are'} left`;
}
