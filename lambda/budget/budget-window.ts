export const budgetWindows = ['day', 'week', 'month'] as const;

/** How long a budget lasts: a day, a week from Monday or a month, all in UTC. */
export type BudgetWindow = (typeof budgetWindows)[number];

/** What may be spent in each window. */
export interface Budget {
  /** In micros. */
  readonly amount: number;
  readonly window: BudgetWindow;
}

/** What a member may spend without a budget of its own, as the settings say it. */
export function memberBudgetOf({
  memberBudget,
  memberBudgetWindow,
}: {
  readonly memberBudget: number | undefined;
  readonly memberBudgetWindow: BudgetWindow;
}): Budget | undefined {
  return memberBudget === undefined ? undefined : { amount: memberBudget, window: memberBudgetWindow };
}

interface BudgetPeriod {
  /** A letter and a number, no two periods alike: `d20780`, `w2969`, `m682`. */
  readonly name: string;
  readonly endsAt: number;
}

const dayLength = 86_400_000;
/** The days from a Monday to the first of January 1970. */
const daysSinceMonday = 3;

/** Those of the day that was asked for last: each request asks several times. */
let latest = { day: 0, periods: periodsOf(0) };

/** The period of this kind that holds a time. */
export function budgetPeriod(window: BudgetWindow, now: number): BudgetPeriod {
  const day = Math.floor(now / dayLength);
  if (latest.day !== day) latest = { day, periods: periodsOf(day) };
  return latest.periods[window];
}

function periodsOf(day: number): Readonly<Record<BudgetWindow, BudgetPeriod>> {
  const week = Math.floor((day + daysSinceMonday) / 7);
  const date = new Date(day * dayLength);
  const month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  return {
    day: { name: `d${day}`, endsAt: (day + 1) * dayLength },
    week: { name: `w${week}`, endsAt: (week * 7 + 7 - daysSinceMonday) * dayLength },
    month: { name: `m${month}`, endsAt: Date.UTC(1970, month + 1) },
  };
}

/** What is set aside for a request whose answer has not been settled. */
export interface Reserved {
  /** When it was made, in whole minutes since the epoch. */
  readonly minute: number;
  /** The period of the budget that it was taken from. */
  readonly budgetPeriod: string;
  readonly amount: number;
}

const minuteLength = 60_000;
/** No gateway lets a request run for longer. */
export const longestRequest = 890_000;

/** How much longer than any request a reservation may be open before its process counts as gone. */
const grace = 60_000;

/** Whether the request of a reservation can no longer be running, where one may take `requestTimeout`. */
export function isLost({ minute }: Pick<Reserved, 'minute'>, now: number, requestTimeout: number): boolean {
  return (minute + 1) * minuteLength + requestTimeout + grace <= now;
}

/** A budget in its current period, in micros. */
export interface BudgetUsage {
  readonly window: BudgetWindow;
  readonly limit: number;
  /** What settled answers cost. */
  readonly spent: number;
  /** Set aside for answers that are still to come. */
  readonly reserved: number;
  /** Set aside for answers that were lost with their process, and will not come. */
  readonly unsettled: number;
  readonly remaining: number;
  /** When the next period begins. */
  readonly resetAt: number;
}

/** What became of a budget. `taken` is all that is spent or reserved in this period; `open` has the reservations of all. */
export function budgetUsage(
  { amount: limit, window }: Budget,
  { taken, open }: { readonly taken: number; readonly open: readonly Reserved[] },
  now: number,
  requestTimeout = longestRequest,
): BudgetUsage {
  const { name, endsAt: resetAt } = budgetPeriod(window, now);
  let [reserved, unsettled] = [0, 0];
  for (const reservation of open.filter(({ budgetPeriod }) => budgetPeriod === name)) {
    if (isLost(reservation, now, requestTimeout)) unsettled += reservation.amount;
    else reserved += reservation.amount;
  }
  const spent = taken - reserved - unsettled;
  return { window, limit, spent, reserved, unsettled, remaining: Math.max(0, limit - taken), resetAt };
}
