import { hasRisen, risesLittle, rising } from './figures.ts';
import { type Guarantee, told, types, variablesOf, type Where } from './guarantee.ts';

/** Limits on cost remain set, and stay in proportion. */
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
  rising.property(types.endpoint, 'ThrottleConfig.RateLimit'),
  rising.property(types.endpoint, 'ScalingConfig.MaxEnvironments'),
  rising.property(types.function, 'MemorySize'),
  ...rising.settings(['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'DAILY_LIMIT']),
  ...told('ACCESS', {
    keeps: (before, after) => before !== 'keys' || after === 'keys',
    otherwise: 'is open: it serves anyone, without a key that the operator has issued',
  }),
  ...told('GUEST_WINDOW', {
    keeps: (before, after) => before === 'daily' || after !== 'daily',
    otherwise: 'gives guests their requests anew each day',
  }),
  ...told('DAILY_LIMIT', { keeps: isStillThere, otherwise: 'answers any number of requests a day, at any cost' }),
  ...told('GUEST_DAILY_LIMIT', {
    keeps: (before, after, where) => isStillThere(before, after ?? fifthOfAll(where)),
    otherwise: 'answers any number of guests a day, at any cost',
  }),
  ...told('GUEST_DAILY_LIMIT', {
    keeps: (before, after, where) => risesLittle()(before, after ?? fifthOfAll(where), where),
    otherwise: hasRisen('GUEST_DAILY_LIMIT'),
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

/** What guests have without a limit of their own. */
function fifthOfAll({ part }: Where): number | undefined {
  const { DAILY_LIMIT: all } = variablesOf(part.tree);
  return all === undefined ? undefined : Number(all) / 5;
}
