import type { Identity } from '../../lambda/identity/identity.ts';
import type { Limits } from '../../lambda/quota/policy.ts';
import type { Item } from '../../lambda/store/table.ts';

/** An environment. */
export interface Plan {
  readonly identity: Identity;
  /** The number of its requests, all at once; 1 by default. */
  readonly requests?: number;
  /** How many of them, from the first, the upstream fails, so that they are refunded. */
  readonly failing?: number;
  /** Whether it runs yesterday's code. */
  readonly yesterday?: boolean;
  /** Whether it only counts tokens, which has its own burst limit. */
  readonly counting?: boolean;
}

export const requestsOf = ({ requests = 1 }: Plan): number => requests;
export const failingOf = ({ failing = 0 }: Plan): number => failing;

/** A starting point of which all schedules are run. */
export interface Scenario {
  readonly name: string;
  readonly environments: readonly Plan[];
  readonly limits: Limits;
  /** The milliseconds that pass at once, at some point in each schedule. */
  readonly passing?: number;
  /** The table's items at the beginning, by key. */
  readonly items?: Readonly<Record<string, Item>>;
}

/** Before midnight, in the middle of a second. */
export const beginning = Date.UTC(2026, 10, 21, 23, 58, 30, 500);

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'ada' };

/** How much time passes: nothing, a second, as long as tokens are kept, a second more, to another minute, or to another day. */
const passings = {
  'at once': 0,
  'over a second': 1_000,
  'over five seconds': 5_000,
  'over six seconds': 6_000,
  'over a minute': 60_000,
  'over midnight': 90_000,
};
/** A guest's allowance does not depend on the day. */
const guestPassings = omit(passings, 'over midnight');
const fewPassings = omit(guestPassings, 'over five seconds', 'over six seconds');

type Passings = Readonly<Record<string, number>>;

function omit(passings: Passings, ...names: string[]): Passings {
  return Object.fromEntries(Object.entries(passings).filter(([name]) => !names.includes(name)));
}

function overTime(name: string, passings: Passings, scenario: Omit<Scenario, 'name'>): Scenario[] {
  return Object.entries(passings).map(([when, passing]) => ({ ...scenario, name: `${name}, ${when}`, passing }));
}

function limitsOf(limit: number, burst: number): Limits {
  return { guestLimit: limit, memberLimit: limit, guestWindow: 'lifetime', burstLimit: burst };
}

/** Requests of one caller, with every possible number of failures. */
function crowd(count: number, limit: number, burst: number, identity: Identity, passings: Passings): Scenario[] {
  return Array.from({ length: count + 1 }, (_, failing) => failing).flatMap((failing) => {
    const environments = Array.from({ length: count }, (_, index) => ({ identity, failing: index < failing ? 1 : 0 }));
    const name = `${count} of a ${identity.kind}, ${failing} of them failing, limit ${limit}, burst ${burst}`;
    return overTime(name, passings, { environments, limits: limitsOf(limit, burst) });
  });
}

function countings(count: number, burst: number): Scenario[] {
  const environments = Array.from({ length: count }, () => ({ identity: member, counting: true }));
  return overTime(`${count} countings of tokens, burst ${burst}`, fewPassings, {
    environments,
    limits: limitsOf(1, burst),
  });
}

export const pairs: readonly Scenario[] = [
  ...crowd(2, 1, 3, guest, guestPassings),
  ...crowd(2, 2, 1, member, passings),
  ...countings(2, 1),
];

export const triples: readonly Scenario[] = [
  ...crowd(3, 1, 3, guest, { 'at once': 0, 'over a second': 1_000, 'over a minute': 60_000 }),
  ...crowd(3, 2, 2, member, { 'at once': 0, 'over midnight': 90_000 }),
  ...countings(3, 2),
];

/** Requests of a server, which charges all but the first together, beside one in another environment. */
function together(count: number, failing: number, limit: number, burst: number, passings: Passings): Scenario[] {
  const environments = [{ identity: guest, requests: count, failing }, { identity: guest }];
  const name = `${count} together, ${failing} of them failing, and one alone, limit ${limit}, burst ${burst}`;
  return overTime(name, passings, { environments, limits: limitsOf(limit, burst) });
}

export const combined: readonly Scenario[] = [
  ...together(3, 0, 2, 3, fewPassings),
  ...together(3, 1, 2, 3, fewPassings),
  ...together(3, 0, 4, 3, fewPassings),
  ...together(3, 1, 4, 3, { 'at once': 0 }),
  ...together(4, 0, 4, 5, fewPassings),
  ...together(4, 1, 4, 5, { 'at once': 0 }),
];

const minute = `n${Math.floor(beginning / 60_000).toString(36)}`;

/** An item as yesterday's code left it, with one charge in this very minute. */
const oldItem: Item = {
  pk: { S: 'guest#net#lifetime' },
  used: { N: '1' },
  [minute]: { N: '1' },
  [minute.replace('n', 'w')]: { SS: ['abcdefgh'] },
};

/** A rolling deployment: a request in yesterday's code beside one in today's, on an existing item. */
const whoFails = { 'none failing': [], 'yesterday’s failing': [0], 'today’s failing': [1], 'both failing': [0, 1] };

export const rolling: readonly Scenario[] = [1, 2, 3].flatMap((burst) =>
  Object.entries(whoFails).flatMap(([what, failing]: [string, number[]]) => {
    const environments = [{ yesterday: true }, {}].map((code, index) => ({
      ...{ identity: guest, failing: failing.includes(index) ? 1 : 0 },
      ...code,
    }));
    const name = `one of yesterday’s and one of today’s, ${what}, burst ${burst}`;
    const items = { 'guest#net#lifetime': oldItem };
    return overTime(name, fewPassings, { environments, limits: limitsOf(2, burst), items });
  }),
);
