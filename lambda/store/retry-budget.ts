/** What repeats may cost while nothing succeeds, in the SDK's numbers: some forty in a row, whoever asks for them. */
const full = 500;
const costs = { throttled: 5, other: 14 } as const;
const earnedByFirstAttempt = 1;

/**
 * Bounds the repeats of a process. Where a service is in trouble, each call by itself would repeat and multiply the load
 * on it; with the budget spent, a call fails at its first attempt until others have succeeded.
 */
export interface RetryBudget {
  /** What a repeat costs; undefined where that is more than there is. */
  spend(throttled: boolean): number | undefined;
  /** Gives back what the last repeat of a call that succeeded has cost. */
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
