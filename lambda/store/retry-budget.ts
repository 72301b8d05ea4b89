/** The budget for repeats while nothing succeeds, with the SDK's numbers: enough for 35 in a row, or 100 if throttled. */
const full = 500;
const costs = { throttled: 5, other: 14 } as const;
const earnedByFirstAttempt = 1;

/**
 * Limits the repeats of a process. If a service is in trouble, calls that all repeat would multiply its load. Once the budget
 * is spent, a call fails at its first attempt until others have succeeded.
 */
export interface RetryBudget {
  /** Takes what a repeat costs, and returns it; undefined if that is more than is left. */
  spend(throttled: boolean): number | undefined;
  /** After a success: gives back what the call's last repeat cost, or a little if it needed none. */
  earn(spent?: number): void;
}

export function createRetryBudget(): RetryBudget {
  let left: number = full;
  return {
    spend: (throttled) => {
      const cost = throttled ? costs.throttled : costs.other;
      if (cost > left) return undefined;
      left -= cost;
      return cost;
    },
    earn: (spent = earnedByFirstAttempt) => {
      left = Math.min(full, left + spent);
    },
  };
}
