import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { isAnswerLost, type Tallies } from './counter-store.ts';
import { dayOf } from './policy.ts';
import type { Charge } from './quota.ts';
import type { LimitName, Wording } from './refusal.ts';
import { allAnswered, allSpent } from './wording.ts';

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
  /** Called when the store's answer is lost, so that a count may stand without a request. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface Taken {
  readonly name: LimitName;
  /** In percent. */
  readonly used: number;
  readonly giveBack: () => Promise<unknown>;
}

/**
 * Counts the requests of all callers together. A write whose answer was lost is repeated, and may count twice: no bill needs to
 * be that exact, and so a count costs one unit at any rate. Undefined if no limit is set.
 */
export function createDeploymentLimit(dependencies: Dependencies): DeploymentLimit | undefined {
  const { dailyLimit, guestDailyLimit = dailyLimit && Math.ceil(dailyLimit / 5), now } = dependencies;
  if (guestDailyLimit === undefined) return undefined;
  // The guests' limit comes first: a guest that it refuses must not use up the limit of all, not even for a moment.
  const ofGuests = createTake('guest_daily_limit', guestDailyLimit, dependencies);
  const ofAll = dailyLimit === undefined ? [] : [createTake('daily_limit', dailyLimit, dependencies)];

  return {
    count: async (identity, charge) => {
      const taken: Taken[] = [];
      const giveBack = () => Promise.all(taken.map((one) => one.giveBack()));
      const time = now();
      try {
        for (const take of identity.kind === 'guest' ? [ofGuests, ...ofAll] : ofAll) taken.push(await take(time));
      } catch (error) {
        await giveBack();
        throw error instanceof GatewayError ? error.refunded() : error;
      }
      const refund = async () => (await Promise.all([charge.refund(), giveBack()]))[0];
      let refunded: ReturnType<typeof refund> | undefined;
      return {
        used: Object.fromEntries(taken.map(({ name, used }) => [name, used])),
        charge: { ...charge, refund: () => (refunded ??= refund()) },
      };
    },
  };
}

/** Takes one from a limit, each part of which holds its share. */
function createTake(name: LimitName, limit: number, { tallies, now, onLost, ...wording }: Dependencies) {
  const count = Math.min(parts, limit);
  const itemsOf = createParts(name, count, now);

  return async (time: number): Promise<Taken> => {
    const { period, resetAt, expiresAt } = dayOf(time);
    const mostOf = (index: number) => Math.floor(limit / count) + (index < limit % count ? 1 : 0);

    const add = async ({ index, item }: Part): Promise<Taken | undefined> => {
      const found = await tallies.add(item, 1, expiresAt, mostOf(index)).catch((error) => {
        if (isAnswerLost(error)) onLost(error, name);
        throw error;
      });
      if (found === undefined) return undefined;
      const giveBack = () => tallies.add(item, -1, expiresAt).catch((error) => onLost(error, name));
      return { name, used: (100 * found) / mostOf(index), giveBack };
    };

    const [first, ...others] = itemsOf(period);
    const taken = first && (await add(first));
    if (taken) return taken;
    // The others are probably full as well: reading them is cheaper than writes that are refused.
    const sums = await Promise.all(others.map(({ item }) => tallies.read(item)));
    for (const part of others.filter(({ index }, at) => (sums[at] ?? 0) < mostOf(index))) {
      const found = await add(part);
      if (found) return found;
    }
    throw allAnswered(name, resetAt, time, wording);
  };
}

/** An item that holds a share of a limit. */
interface Part {
  readonly index: number;
  readonly item: string;
}

/**
 * How many items a day's count is spread over, so that none becomes hot: each takes a thousand writes a second. See
 * docs/hosting.md.
 */
const parts = 8;

/** The items of a day in a circle, every time from the next one, so that they fill evenly. Each process begins elsewhere. */
function createParts(name: string, count: number, now: () => number) {
  let start = now();
  return (day: number): Part[] => {
    start += 1;
    return Array.from({ length: count }, (_, position) => {
      const index = (start + position) % count;
      return { index, item: `${name}#${day}#${index}` };
    });
  };
}

/** What the whole deployment may spend on one day. */
export interface SpendLimit {
  /** Returns what was spent, in percent. Throws `service_unavailable` if that is everything, or the store does not answer. */
  check(): Promise<number>;
  /** Adds what an answer cost, in micros. Never throws. */
  add(cost: number): Promise<unknown>;
}

interface SpendDependencies {
  readonly tallies: Tallies;
  readonly spendLimit: number | undefined;
  readonly now: () => number;
  /** Called when an answer's cost may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** How old the sum may be that requests are compared with, in milliseconds. */
const readEvery = 10_000;

/** What has been read of a day's spending. */
interface KnownSpending {
  readonly day: number;
  readonly until: number;
  readonly sum: Promise<number>;
  /** What this process has spent since. */
  own: number;
}

/**
 * Nothing is reserved: what is in flight, and what other processes spent since the sum was read, may pass the limit. Undefined without
 * one.
 */
export function createSpendLimit({ spendLimit, tallies, now, onLost }: SpendDependencies): SpendLimit | undefined {
  if (spendLimit === undefined) return undefined;
  const itemsOf = createParts('spend_limit', parts, now);
  let known: KnownSpending | undefined;
  /** What is being added. */
  const adding = new Set<Promise<void>>();

  const readSum = async (day: number) => {
    // Or the sum could hold what counts as this process's own since then.
    await Promise.all(adding);
    const amounts = await Promise.all(itemsOf(day).map(({ item }) => tallies.read(item)));
    return amounts.reduce((sum, amount) => sum + amount, 0);
  };
  const spentOn = async (day: number): Promise<number> => {
    const reading = readingOf(day);
    return (await reading.sum) + reading.own;
  };
  const readingOf = (day: number): KnownSpending => {
    if (known?.day === day && now() < known.until) return known;
    const sum = readSum(day).catch((error) => {
      if (known?.sum === sum) known = undefined;
      throw error;
    });
    known = { day, until: now() + readEvery, sum, own: 0 };
    return known;
  };

  return {
    check: async () => {
      const { period, resetAt } = dayOf(now());
      const spent = await spentOn(period);
      if (spent < spendLimit) return (100 * spent) / spendLimit;
      throw allSpent(resetAt, now());
    },
    add: async (cost) => {
      const { period, expiresAt } = dayOf(now());
      const [{ item } = { item: '' }] = itemsOf(period);
      if (known?.day === period) known.own += cost;
      const added = tallies.add(item, cost, expiresAt).then(() => {}, onLost);
      adding.add(added);
      await added;
      adding.delete(added);
    },
  };
}
