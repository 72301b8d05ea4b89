import { dullCaller, dullPlan, dullRequest, dullTurn, type Plan } from './plan.ts';

/** Plain data. */
type Data = { readonly [name: string]: unknown };

const dull: Data = { ...dullTurn, ...dullCaller, ...dullRequest, ...dullPlan };

/** All plans that are one step simpler: with one member less, one element of a list less, or a smaller number. */
function* simpler(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at] of value.entries()) yield value.toSpliced(at, 1);
    for (const [at, element] of value.entries()) for (const one of simpler(element)) yield value.with(at, one);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name !== 'seed') {
        const { [name]: _, ...rest } = value as Data;
        yield rest;
      }
      // A smaller one of these is no simpler.
      if (['seed', 'status', 'speech', 'call'].includes(name)) continue;
      for (const one of simpler(member)) yield { ...value, [name]: one };
    }
  } else if (typeof value === 'number') {
    for (let less = Math.floor(value / 2); less >= 1; less = Math.floor(less / 2)) yield value - less;
  }
}

/** Only what differs from a dull plan. */
const essenceOf = (plan: object): Data =>
  Object.fromEntries(
    Object.entries(plan).filter(([name, member]) => JSON.stringify(member) !== JSON.stringify(dull[name])),
  );

/** The simplest plan that is found to fail in the same way. */
export async function shrink(plan: Plan, fails: (plan: Partial<Plan>) => Promise<boolean>): Promise<Partial<Plan>> {
  let smallest: Partial<Plan> = essenceOf(plan);
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (let at = 0; at < mostTries; ) {
      const candidate = nth(simpler(smallest), at) as Partial<Plan> | undefined;
      if (!candidate) break;
      if (await fails(candidate).catch(() => false)) {
        smallest = candidate;
        isDone = false;
      } else at += 1;
    }
  }
  return smallest;
}

function nth(values: Iterable<unknown>, place: number): unknown {
  let at = 0;
  for (const value of values) if (at++ === place) return value;
  return undefined;
}

/** At one size. */
const mostTries = 500;
