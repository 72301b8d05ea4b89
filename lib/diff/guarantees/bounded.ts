import { type Guarantee, types, variable, type Where } from './guarantee.ts';

const { function: lambda } = types;

/** What it may cost has an end where it had one; how high that is, the diff shows. */
export const bounded: readonly Guarantee[] = [
  {
    of: lambda,
    at: 'ReservedConcurrentExecutions',
    keeps: isStillThere,
    otherwise: 'may take every execution of the account: nothing bounds what a flood costs',
  },
  {
    of: lambda,
    at: variable('DAILY_LIMIT'),
    keeps: isStillThere,
    otherwise: 'answers any number of requests a day, for any bill',
  },
  {
    of: lambda,
    at: variable('GUEST_DAILY_LIMIT'),
    // Without it, guests have a fifth of the limit of all.
    keeps: (before, after, where) => isStillThere(before, after) || hasDailyLimit(where),
    otherwise: 'answers any number of guests a day, for any bill',
  },
];

function isStillThere(before: unknown, after: unknown): boolean {
  return before === undefined || after !== undefined;
}

function hasDailyLimit({ part }: Where): boolean {
  const { Variables } = (part.tree.Environment ?? {}) as { readonly Variables?: Readonly<Record<string, unknown>> };
  return Variables?.DAILY_LIMIT !== undefined;
}
