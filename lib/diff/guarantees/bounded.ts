import { type Guarantee, told, types, variablesOf, type Where } from './guarantee.ts';

/** Limits on cost remain set. Their values may change, as the diff shows those. */
export const bounded: readonly Guarantee[] = [
  {
    of: types.function,
    at: 'ReservedConcurrentExecutions',
    keeps: isStillThere,
    otherwise: 'may take every execution of the account: nothing bounds the cost of a flood',
  },
  {
    of: types.function,
    at: 'ReservedConcurrentExecutions',
    keeps: leavesStopped,
    otherwise: 'gets executions again if it was stopped by hand, which no template shows',
  },
  ...['ThrottleConfig.RateLimit', 'ScalingConfig.MaxEnvironments'].map((at) => ({
    of: types.endpoint,
    at,
    keeps: isStillThere,
    otherwise: 'has one limit less on the cost of a flood',
  })),
  ...told('DAILY_LIMIT', { keeps: isStillThere, otherwise: 'answers any number of requests a day, at any cost' }),
  ...told('GUEST_DAILY_LIMIT', {
    // Without it, guests have a fifth of DAILY_LIMIT.
    keeps: (before, after, where) => isStillThere(before, after) || hasDailyLimit(where),
    otherwise: 'answers any number of guests a day, at any cost',
  }),
];

/** An empty text counts as unset. */
function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || (after !== undefined && after !== '');
}

/** CloudFormation writes only what differs between two templates. */
function leavesStopped(before: unknown, after: unknown): boolean {
  return before === after || after === undefined || after === 0;
}

function hasDailyLimit({ part }: Where): boolean {
  return variablesOf(part.tree).DAILY_LIMIT !== undefined;
}
