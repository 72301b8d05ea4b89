import { type Guarantee, told, types, variablesOf, type Where } from './guarantee.ts';

/** What it may cost has an end where it had one; how high that is, the diff shows. */
export const bounded: readonly Guarantee[] = [
  {
    of: types.function,
    at: 'ReservedConcurrentExecutions',
    keeps: isStillThere,
    otherwise: 'may take every execution of the account: nothing bounds what a flood costs',
  },
  ...['ThrottleConfig.RateLimit', 'ScalingConfig.MaxEnvironments'].map((at) => ({
    of: types.endpoint,
    at,
    keeps: isStillThere,
    otherwise: 'has a limit less on what a flood costs',
  })),
  ...told('DAILY_LIMIT', { keeps: isStillThere, otherwise: 'answers any number of requests a day, for any bill' }),
  ...told('GUEST_DAILY_LIMIT', {
    // Without it, guests have a fifth of the limit of all.
    keeps: (before, after, where) => isStillThere(before, after) || hasDailyLimit(where),
    otherwise: 'answers any number of guests a day, for any bill',
  }),
];

function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || after !== undefined;
}

function hasDailyLimit({ part }: Where): boolean {
  return variablesOf(part.tree).DAILY_LIMIT !== undefined;
}
