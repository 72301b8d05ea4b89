import type { Identity } from '../../lambda/identity/identity.ts';
import type { Limits } from '../../lambda/quota/policy.ts';

/** An environment, with one request. */
export interface Plan {
  readonly identity: Identity;
  /** Whether the upstream fails, so that the request is refunded. */
  readonly fails?: boolean;
  /** Whether it only counts tokens, which has its own burst limit. */
  readonly counting?: boolean;
}

/** A starting point of which all schedules are run. */
export interface Scenario {
  readonly name: string;
  readonly environments: readonly Plan[];
  readonly limits: Limits;
  readonly beginning: number;
  /** The milliseconds that pass at once, at some point in each schedule. */
  readonly passing: number;
  /**
   * Whether so much time passes that tokens are dropped: the one bound that the counter has. So no call is under way
   * meanwhile, and no copy of one arrives later.
   */
  readonly isFar: boolean;
}

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'ada' };
const [noon, night] = [Date.UTC(2026, 10, 21, 12, 0, 30), Date.UTC(2026, 10, 21, 23, 59, 30)];

const passings = {
  'at once': [noon, 0],
  'over a second': [noon, 1_000],
  'to the next minute': [noon, 60_000],
  'over midnight': [night, 60_000],
  'over two minutes': [noon, 120_000],
} as const;
type When = keyof typeof passings;

function overTime(
  name: string,
  environments: readonly Plan[],
  limit: number,
  burst: number,
  whens: When[],
): Scenario[] {
  const limits: Limits = { guestLimit: limit, memberLimit: limit, guestWindow: 'lifetime', burstLimit: burst };
  return whens.map((when) => {
    const [beginning, passing] = passings[when];
    const named = `${name}, limit ${limit}, burst ${burst}, ${when}`;
    return { name: named, environments, limits, beginning, passing, isFar: passing > 60_000 };
  });
}

/** Requests of one caller, with every possible number of failures. */
function crowd(count: number, limit: number, burst: number, identity: Identity, whens: When[]): Scenario[] {
  return Array.from({ length: count + 1 }, (_, failing) => failing).flatMap((failing) => {
    const environments = Array.from({ length: count }, (_, index) => ({ identity, fails: index < failing }));
    return overTime(`${count} of a ${identity.kind}, ${failing} failing`, environments, limit, burst, whens);
  });
}

function countings(count: number, burst: number, whens: When[]): Scenario[] {
  const environments = Array.from({ length: count }, () => ({ identity: member, counting: true }));
  return overTime(`${count} countings of tokens`, environments, 1, burst, whens);
}

export const pairs: readonly Scenario[] = [
  ...crowd(2, 1, 3, guest, ['at once', 'over a second', 'to the next minute', 'over two minutes']),
  ...crowd(2, 2, 1, member, ['at once', 'over a second', 'to the next minute', 'over midnight', 'over two minutes']),
  ...countings(2, 1, ['at once', 'over a second', 'to the next minute', 'over two minutes']),
];

export const triples: readonly Scenario[] = [
  ...crowd(3, 1, 3, guest, ['at once', 'over a second', 'to the next minute', 'over two minutes']),
  ...crowd(3, 2, 2, member, ['at once', 'over midnight']),
  ...countings(3, 2, ['at once', 'to the next minute']),
];
