import type { Identity } from '../../lambda/identity/identify.ts';
import type { Limits } from '../../lambda/quota/policy.ts';

/** An environment with one request. `fails` is whether its upstream fails. */
export interface Plan {
  readonly identity: Identity;
  readonly fails: boolean;
  /** Of a caller with a budget. */
  readonly spending?: { readonly reserved: number; readonly tokens: number; readonly cost: number } | undefined;
}

/** A starting point, from which all schedules are explored. */
export interface Scenario {
  readonly name: string;
  readonly environments: readonly Plan[];
  readonly limits: Limits;
  readonly beginning: number;
  /** The milliseconds that pass at once, at some point in each schedule. */
  readonly passing: number;
  /** Whether a refusal lacks the item that caused it, as in older DynamoDB emulators. */
  readonly refusesBare?: boolean;
  /** Whether what got no answer is asked again; it is, unless this says no. */
  readonly repeats?: false;
}

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'ada' };
const [noon, night] = [Date.UTC(2026, 10, 21, 12, 0, 30), Date.UTC(2026, 10, 21, 23, 59, 30)];

const passings = {
  'at once': [noon, 0],
  'over a second': [noon, 1_000],
  'to the next minute': [noon, 60_000],
  'over midnight': [night, 60_000],
} as const;
/** Time may pass or not, so these cover everything that can happen at once. */
const inMinutes = ['over a second', 'to the next minute'] as const;

/** Requests of one caller, with every possible number of failures. */
function crowd(
  [count, limit, burst]: [count: number, limit: number, burst: number],
  identity: Identity,
  whens: readonly (keyof typeof passings)[],
): Scenario[] {
  const limits: Limits = { guestLimit: limit, memberLimit: limit, guestWindow: 'lifetime', burstLimit: burst };
  return Array.from({ length: count + 1 }, (_, failing) => failing).flatMap((failing) => {
    const environments = Array.from({ length: count }, (_, index) => ({ identity, fails: index < failing }));
    return whens.map((when) => {
      const [beginning, passing] = passings[when];
      const name = `${count} of a ${identity.kind}, ${failing} failing, limit ${limit}, burst ${burst}, ${when}`;
      return { name, environments, limits, beginning, passing };
    });
  });
}

/** A token costs one and a half. */
export const prices = { input: 0, output: 1_500_000, cacheRead: 0, cacheWrite: 0 };
/** Of the first, second and third request: one costs less than its reservation, one more, and one exactly that. */
const spendings = [
  { reserved: 10, tokens: 3, cost: 5 },
  { reserved: 10, tokens: 8, cost: 12 },
  { reserved: 9, tokens: 6, cost: 9 },
];

/** Requests of one caller with a daily budget of `amount`. */
function spenders(
  [count, amount]: [count: number, amount: number],
  whens: readonly (keyof typeof passings)[],
): Scenario[] {
  return crowd([count, count, count], member, whens).map((scenario) => ({
    ...scenario,
    name: scenario.name.replace(/limit.*burst \d+/, `budget ${amount}`),
    environments: scenario.environments.map((plan, index) => ({ ...plan, spending: spendings[index] })),
    limits: { ...scenario.limits, memberBudget: { amount, window: 'day' } },
  }));
}

/** The same with a store whose refusals lack the item. */
const bare = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}, refusals without an item`,
  refusesBare: true,
});

export const pairs: readonly Scenario[] = [
  ...crowd([2, 1, 3], guest, inMinutes),
  ...crowd([2, 2, 1], member, [...inMinutes, 'over midnight']),
  ...spenders([2, 15], ['over a second', 'over midnight']),
  ...spenders([2, 20], ['over midnight']),
  ...crowd([2, 1, 3], guest, ['over a second']).map(bare),
  ...crowd([2, 2, 1], member, inMinutes).map(bare),
  ...spenders([2, 15], ['over a second']).map(bare),
];

export const triples: readonly Scenario[] = [
  ...crowd([3, 1, 3], guest, ['to the next minute']),
  ...crowd([3, 2, 2], member, ['over midnight']),
  ...spenders([3, 15], ['at once']),
  ...spenders([3, 20], ['over midnight']),
  ...crowd([3, 1, 3], guest, ['at once']).map(bare),
];

/** Those in which each operation is whole: refusals always bring what refused them, and nothing is repeated. */
export const ofWholeOperations = (all: readonly Scenario[]): Scenario[] =>
  all.filter(({ refusesBare }) => !refusesBare).map((scenario) => ({ ...scenario, repeats: false }));
