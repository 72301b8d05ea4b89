export const budgetWindows = ['day', 'week', 'month'] as const;

/** The reset interval of a budget: a day, a week from Monday or a calendar month, all in UTC. */
export type BudgetWindow = (typeof budgetWindows)[number];

export interface Budget {
  /** In micros. */
  readonly amount: number;
  readonly window: BudgetWindow;
}

/** The default budget of members, from the settings. */
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
  /** Unique, a letter and a number: `d20780`, `w2969`, `m682`. */
  readonly name: string;
  readonly endsAt: number;
}

const dayLength = 86_400_000;
/** 1 January 1970 was a Thursday. */
const daysSinceMonday = 3;

/** Cached for one day, because each request asks several times. */
let latest = { day: 0, periods: periodsOf(0) };

/** The period that contains a time. */
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

/** What is set aside for a request until its answer is settled. */
export interface Reserved {
  /** When it was made, in whole minutes since the epoch. */
  readonly minute: number;
  /** The budget period that it counts against. */
  readonly budgetPeriod: string;
  readonly amount: number;
}

const minuteLength = 60_000;
/** In milliseconds: the highest REQUEST_TIMEOUT. */
export const longestRequest = 890_000;

/** How long past the request timeout a reservation may stay open before its process counts as dead. */
const grace = 60_000;

/** Whether the request that made a reservation can't be running any more. */
export function isLost({ minute }: Pick<Reserved, 'minute'>, now: number, requestTimeout: number): boolean {
  return (minute + 1) * minuteLength + requestTimeout + grace <= now;
}

/** The current period of a budget. Amounts are micros. */
export interface BudgetUsage {
  readonly window: BudgetWindow;
  readonly limit: number;
  /** What settled answers cost. */
  readonly spent: number;
  /** Set aside for requests in flight. */
  readonly reserved: number;
  /** Set aside for requests whose process died before it could settle them. */
  readonly unsettled: number;
  readonly remaining: number;
  /** When the next period begins. */
  readonly resetAt: number;
}

/** Breaks a budget down. `taken`: everything spent or reserved in this period. `open`: the open reservations of all periods. */
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
