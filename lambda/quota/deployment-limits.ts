import { type Day, dayOf } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { type GlobalCounters, type GlobalCounts, isAnswerLost } from '../store/counters.ts';
import type { Charge } from './quota.ts';
import type { LimitName, Wording } from './refusal.ts';
import { allAnswered, allSpent } from './wording.ts';

/** How much of each limit was used, in percent, as seen by the request that was counted. */
export type LimitsUsed = Readonly<Partial<Record<LimitName, number>>>;

/** The daily limits on requests: of all callers together, and of all guests. */
export interface DeploymentLimit {
  /**
   * Counts a charged request. Refunding the returned charge undoes these counts as well. If a limit is reached or the store does not
   * answer, throws a `service_unavailable` that refunds the charge.
   */
  count(identity: Identity, charge: Charge): Promise<{ readonly charge: Charge; readonly used: LimitsUsed }>;
}

interface Dependencies extends Wording {
  readonly globalCounters: GlobalCounters;
  readonly dailyLimit: number | undefined;
  readonly guestDailyLimit: number | undefined;
  readonly now: () => number;
  /** Called when the store's response is lost: the count may be one too high. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface DailyLimit {
  readonly name: LimitName;
  /** The counter that it limits. */
  readonly counter: 'requests' | 'guests';
  readonly most: number;
}

/**
 * Counts the requests of all callers together. Writes are not idempotent: one whose response is lost is retried and may count twice.
 * No bill depends on it, and without tokens the item stays small enough for one write unit.
 */
export function createDeploymentLimit(dependencies: Dependencies): DeploymentLimit {
  const {
    globalCounters,
    dailyLimit,
    guestDailyLimit = dailyLimit && Math.ceil(dailyLimit / 5),
    now,
    onLost,
  } = dependencies;
  const forMembers = toLimits('daily_limit', 'requests', dailyLimit);
  // If both limits are reached, guests are told about their own.
  const forGuests = [...toLimits('guest_daily_limit', 'guests', guestDailyLimit), ...forMembers];

  /** Adds to the counters of all these limits, or to none. */
  const add = (day: Day, limits: readonly DailyLimit[], amount: 1 | -1) => {
    const each = (value: (limit: DailyLimit) => number) =>
      Object.fromEntries(limits.map((limit) => [limit.counter, value(limit)]));
    return globalCounters.add(
      day,
      each(() => amount),
      amount > 0 ? each(({ most }) => most) : {},
    );
  };

  return {
    count: async (identity, charge) => {
      const limits = identity.kind === 'guest' ? forGuests : forMembers;
      const [first] = limits;
      if (first === undefined) return { charge, used: {} };
      const reportLost = (error: unknown) => {
        for (const { name } of limits) onLost(error, name);
      };
      const time = now();
      const day = dayOf(time);
      const { added, counts } = await add(day, limits, 1).catch((error) => {
        if (isAnswerLost(error)) reportLost(error);
        throw error instanceof GatewayError ? error.refunded() : error;
      });
      if (!added) {
        const { name } = limits.find(({ counter, most }) => counts[counter] >= most) ?? first;
        throw allAnswered(name, day.resetAt, time, dependencies).refunded();
      }
      const refund = async () => {
        const [snapshot] = await Promise.all([charge.refund(), add(day, limits, -1).catch(reportLost)]);
        return snapshot;
      };
      let refunded: ReturnType<typeof refund> | undefined;
      return {
        used: Object.fromEntries(limits.map(({ name, counter, most }) => [name, (100 * counts[counter]) / most])),
        charge: { ...charge, refund: () => (refunded ??= refund()) },
      };
    },
  };
}

const toLimits = (name: LimitName, counter: DailyLimit['counter'], most: number | undefined): DailyLimit[] =>
  most === undefined ? [] : [{ name, counter, most }];

/** The daily spend limit of the whole deployment. */
export interface SpendLimit {
  /** Returns the share that is spent, in percent. Throws `service_unavailable` at 100 %, or if the store does not answer. */
  check(): Promise<number>;
  /** Adds the cost of an answer, in micros. Never throws. */
  add(cost: number): Promise<unknown>;
}

interface SpendDependencies {
  readonly globalCounters: GlobalCounters;
  readonly spendLimit: number;
  readonly now: () => number;
  /** Called when the cost of answers may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** How long a total that was read is used, in milliseconds. */
const readEvery = 10_000;

/** A cached read of the day's total. */
interface Reading {
  readonly period: number;
  readonly goodUntil: number;
  readonly counts: Promise<GlobalCounts>;
  /** What this process has spent since the read. */
  ownSince: number;
}

/** Costs that are batched into one write. */
interface Addition {
  readonly period: number;
  readonly written: Promise<unknown>;
  cost: number;
}

/**
 * Reserves nothing: requests in flight, and whatever other processes have spent since the last read, can push the total past the
 * limit.
 */
export function createSpendLimit({ spendLimit, globalCounters, now, onLost }: SpendDependencies): SpendLimit {
  let reading: Reading | undefined;
  /** The next write. While it waits for the write before it, it collects the cost of further answers. */
  let next: Addition | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();

  /** Reads and writes run one at a time: a total includes what this process spent before the read, and nothing after it. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = lastTurn.then(act);
    lastTurn = turn.catch(() => {});
    return turn;
  };
  const readingOf = ({ period }: Day): Reading => {
    if (reading?.period === period && now() < reading.goodUntil) return reading;
    next = undefined; // costs from here on count as `ownSince`, so the total must not include them
    const counts = inTurn(() => globalCounters.read(period)).catch((error) => {
      if (reading?.counts === counts) reading = undefined;
      throw error;
    });
    reading = { period, goodUntil: now() + readEvery, counts, ownSince: 0 };
    return reading;
  };

  const openAddition = (day: Day): Addition => {
    const opened: Addition = {
      period: day.period,
      cost: 0,
      written: inTurn(async () => {
        if (next === opened) next = undefined;
        await globalCounters.add(day, { spent: opened.cost }).catch(onLost);
      }),
    };
    return opened;
  };

  return {
    check: async () => {
      const day = dayOf(now());
      const current = readingOf(day);
      const spent = (await current.counts).spent + current.ownSince;
      if (spent < spendLimit) return (100 * spent) / spendLimit;
      throw allSpent(day.resetAt, now());
    },
    add: (cost) => {
      const day = dayOf(now());
      if (reading?.period === day.period) reading.ownSince += cost;
      if (next?.period !== day.period) next = openAddition(day);
      next.cost += cost;
      return next.written;
    },
  };
}
