import { type ErrorOptions, GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { isAnswerLost, type Tallies } from './counter-store.ts';
import { dayOf } from './policy.ts';
import { type Charge, once } from './quota.ts';
import { allAnswered, allSpent, type Refusal, type Wording } from './refusal.ts';

/** The same as the `reason` in the log of its refusals. */
type LimitName = 'daily_limit' | 'guest_daily_limit';

/** The percentage used of each limit that a request counts towards, as that request saw it. */
export type LimitsUsed = Readonly<Partial<Record<LimitName, number>>>;

export interface DeploymentLimit {
  /**
   * Counts a charged request towards its caller's limits. Refunding the returned charge takes these counts back as well.
   * If a limit is spent or the store does not answer, throws a `service_unavailable` that refunds.
   */
  count(identity: Identity, charge: Charge): Promise<{ readonly charge: Charge; readonly used: LimitsUsed }>;
}

interface Dependencies extends Wording {
  readonly tallies: Tallies;
  readonly dailyLimit: number | undefined;
  readonly guestDailyLimit: number | undefined;
  readonly now: () => number;
  readonly createToken: () => string;
  /** Called when the store's answer is lost, so that a count may stand without a request. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface Taken {
  readonly name: LimitName;
  readonly item: string;
  readonly used: number;
}

/**
 * Counts the requests of all callers together. A write whose answer was lost is repeated, and may count twice: no bill needs to
 * be that exact, and so a count costs one unit at any rate. Undefined if no limit is set.
 */
export function createDeploymentLimit(dependencies: Dependencies): DeploymentLimit | undefined {
  const { dailyLimit, now, onLost, tallies } = dependencies;
  const { guestDailyLimit = dailyLimit && Math.ceil(dailyLimit / 5) } = dependencies;
  if (guestDailyLimit === undefined) return undefined;
  // The guests' limit comes first: a guest that it refuses must not use up the limit of all, not even for a moment.
  const ofGuests = createTake('guest_daily_limit', guestDailyLimit, dependencies);
  const ofAll = dailyLimit === undefined ? [] : [createTake('daily_limit', dailyLimit, dependencies)];

  const giveBack = async (taken: readonly Taken[]) => {
    const subtract = ({ name, item }: Taken) => tallies.subtract(item).catch((error) => onLost(error, name));
    await Promise.all(taken.map(subtract));
  };

  return {
    count: async (identity, charge) => {
      const taken: Taken[] = [];
      const time = now();
      try {
        for (const take of identity.kind === 'guest' ? [ofGuests, ...ofAll] : ofAll) taken.push(await take(time));
      } catch (error) {
        await giveBack(taken);
        throw error;
      }
      const refund = async () => (await Promise.all([charge.refund(), giveBack(taken)]))[0];
      return {
        used: Object.fromEntries(taken.map(({ name, used }) => [name, used])),
        charge: { ...charge, refund: once(refund) },
      };
    },
  };
}

/** Takes one from a limit. A request that finds one part of it full looks for room in the others before it is refused. */
function createTake(name: LimitName, limit: number, { tallies, createToken, onLost, ...wording }: Dependencies) {
  let start = randomStart(createToken);
  let spentOn: number | undefined;

  const add = async ({ item, most, expiresAt }: Part): Promise<Taken | undefined> => {
    const used = await tallies.add(item, most, expiresAt).catch((error) => {
      if (isAnswerLost(error)) onLost(error, name);
      throw error;
    });
    return used === undefined ? undefined : { name, item, used: (100 * used) / most };
  };
  const hasRoom = async ({ item, most }: Part) => (await tallies.read(item)) < most;

  const find = async (all: readonly Part[], day: number) => {
    const [first, ...others] = all;
    // If the limit is known to be spent, reading is cheaper than a write that is refused.
    const isSpent = spentOn === day;
    const taken = first && !isSpent ? await add(first) : undefined;
    if (taken) return taken;
    const left = isSpent ? all : others;
    const room = await Promise.all(left.map(hasRoom));
    for (const part of left.filter((_, index) => room[index])) {
      const found = await add(part);
      if (found) return found;
    }
    return undefined;
  };

  return async (time: number): Promise<Taken> => {
    const { period: day, resetAt } = dayOf(time);
    start += 1;
    const taken = await find(partsOf(name, limit, start, time), day).catch((error) => {
      throw error instanceof GatewayError ? error.refunded() : error;
    });
    spentOn = taken ? undefined : day;
    if (taken) return taken;
    const refusal = allAnswered(name === 'guest_daily_limit', resetAt, time, wording);
    throw errorOf(refusal, { reason: name, refund: true });
  };
}

function errorOf({ code, message, ...options }: Refusal, more: ErrorOptions): GatewayError {
  return new GatewayError(code, message, { ...options, ...more });
}

/** Round robin from a random start in each process, so that the items fill evenly. */
function randomStart(createToken: () => string): number {
  return Buffer.from(createToken(), 'base64')[0] ?? 0;
}

interface Part {
  readonly item: string;
  readonly most: number;
  readonly expiresAt: number;
}

/**
 * How many items a limit is spread over, so that none becomes hot: each takes a thousand writes a second, and holds its share of
 * the limit. See docs/hosting.md.
 */
const parts = 8;

/** The day's items of a limit in a circle, from the one with this number. */
function partsOf(name: LimitName, limit: number, start: number, time: number): Part[] {
  const { period, expiresAt } = dayOf(time);
  const count = Math.min(parts, limit);
  return Array.from({ length: count }, (_, position) => {
    const index = (start + position) % count;
    return {
      item: `${name}#${period}#${index}`,
      most: Math.floor(limit / count) + (index < limit % count ? 1 : 0),
      expiresAt,
    };
  });
}

/** What the whole deployment may spend on one day. */
export interface SpendLimit {
  /** Returns what was spent, in percent. Throws `service_unavailable` if that is everything, or the store does not answer. */
  check(): Promise<number>;
  /** Adds what an answer cost, in micros. Never throws. */
  add(cost: number): Promise<void>;
}

interface SpendDependencies {
  readonly tallies: Pick<Tallies, 'addAmount' | 'read'>;
  readonly spendLimit: number | undefined;
  readonly now: () => number;
  readonly createToken: () => string;
  /** Called when an answer's cost may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** How old the sum may be that requests are compared with, in milliseconds. */
const readEvery = 10_000;

/** Nothing is reserved: what is in flight, and what was spent since the sum was read, may pass the limit. Undefined without one. */
export function createSpendLimit({ spendLimit, ...dependencies }: SpendDependencies): SpendLimit | undefined {
  if (spendLimit === undefined) return undefined;
  const { tallies, now, createToken, onLost } = dependencies;
  let next = randomStart(createToken);
  let known: { readonly day: number; readonly until: number; readonly sum: Promise<number> } | undefined;

  const itemOf = (day: number, part: number) => `spend_limit#${day}#${part % parts}`;
  const readSum = async (day: number) => {
    const amounts = await Promise.all(Array.from({ length: parts }, (_, part) => tallies.read(itemOf(day, part))));
    return amounts.reduce((sum, amount) => sum + amount, 0);
  };
  const sumOf = (day: number): Promise<number> => {
    if (known?.day === day && now() < known.until) return known.sum;
    const reading = { day, until: now() + readEvery, sum: readSum(day) };
    known = reading;
    reading.sum.catch(() => {
      if (known === reading) known = undefined;
    });
    return reading.sum;
  };

  return {
    check: async () => {
      const { period, resetAt } = dayOf(now());
      const spent = await sumOf(period);
      if (spent < spendLimit) return (100 * spent) / spendLimit;
      throw errorOf(allSpent(resetAt, now()), { reason: 'spend_limit' });
    },
    add: async (cost) => {
      const { period, expiresAt } = dayOf(now());
      next += 1;
      await tallies.addAmount(itemOf(period, next), cost, expiresAt).catch(onLost);
    },
  };
}
