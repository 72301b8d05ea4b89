export const budgetWindows = ['day', 'week', 'month'] as const;

/** How long a budget lasts: a day, a week from Monday or a month, all in UTC. */
export type BudgetWindow = (typeof budgetWindows)[number];

/** What may be spent in each window. */
export interface Budget {
  /** In micros. */
  readonly amount: number;
  readonly window: BudgetWindow;
}

export interface BudgetPeriod {
  /** A letter and a number, no two periods alike: `d20780`, `w2969`, `m682`. */
  readonly name: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

const dayLength = 86_400_000;
/** The days from a Monday to the first of January 1970. */
const daysSinceMonday = 3;

/** The period of this kind that holds a time. */
export function budgetPeriod(window: BudgetWindow, now: number): BudgetPeriod {
  const day = Math.floor(now / dayLength);
  switch (window) {
    case 'day':
      return { name: `d${day}`, startsAt: day * dayLength, endsAt: (day + 1) * dayLength };
    case 'week': {
      const week = Math.floor((day + daysSinceMonday) / 7);
      const startsAt = (week * 7 - daysSinceMonday) * dayLength;
      return { name: `w${week}`, startsAt, endsAt: startsAt + 7 * dayLength };
    }
    case 'month': {
      const date = new Date(now);
      const month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
      return { name: `m${month}`, startsAt: Date.UTC(1970, month), endsAt: Date.UTC(1970, month + 1) };
    }
  }
}
