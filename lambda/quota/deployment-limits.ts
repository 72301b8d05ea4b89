import { type Day, dayOf } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import { type GlobalCounters, type GlobalCounts, isAnswerLost } from '../store/counters.ts';
import type { Charge } from './quota.ts';
import type { LimitName, Wording } from './refusal.ts';
import { allAnswered, allSpent } from './wording.ts';

/** The percentage used of each limit that a request counts towards, as that request saw it. */
export type LimitsUsed = Readonly<Partial<Record<LimitName, number>>>;

/** How many requests of all callers together are answered on one day. */
export interface DeploymentLimit {
  /**
   * Counts a charged request towards its caller's limits. Refunding the returned charge takes these counts back as well.
   * If a limit is spent or the store does not answer, throws a `service_unavailable` that refunds.
   */
  count(identity: Identity, charge: Charge): Promise<{ readonly charge: Charge; readonly used: LimitsUsed }>;
}

interface Dependencies extends Wording {
  readonly globalCounters: GlobalCounters;
  readonly dailyLimit: number | undefined;
  readonly guestDailyLimit: number | undefined;
  readonly now: () => number;
  /** Called when the store's answer is lost, so that a count may stand without a request. */
  readonly onLost: (error: unknown, limit: LimitName) => void;
}

interface DailyLimit {
  readonly name: LimitName;
  /** What of a day's tally it limits. */
  readonly counts: 'requests' | 'guests';
  readonly most: number;
}

/**
 * Counts the requests of all callers together. A write whose answer was lost is repeated, and may count twice: no bill needs to
 * be that exact, and so a count costs one unit at any rate.
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
  // Where both are spent, a guest is told of its own.
  const forGuests = [...toLimits('guest_daily_limit', 'guests', guestDailyLimit), ...forMembers];

  /** Adds to all counts of these limits, or to none of them. */
  const add = (day: Day, limits: readonly DailyLimit[], amount: 1 | -1) => {
    const each = (value: (limit: DailyLimit) => number) =>
      Object.fromEntries(limits.map((limit) => [limit.counts, value(limit)]));
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
      const tellLost = (error: unknown) => {
        for (const { name } of limits) onLost(error, name);
      };
      const time = now();
      const day = dayOf(time);
      const { added, tally } = await add(day, limits, 1).catch((error) => {
        if (isAnswerLost(error)) tellLost(error);
        throw error instanceof GatewayError ? error.refunded() : error;
      });
      if (!added) {
        const { name } = limits.find(({ counts, most }) => tally[counts] >= most) ?? first;
        throw allAnswered(name, day.resetAt, time, dependencies).refunded();
      }
      const refund = async () => {
        const [snapshot] = await Promise.all([charge.refund(), add(day, limits, -1).catch(tellLost)]);
        return snapshot;
      };
      let refunded: ReturnType<typeof refund> | undefined;
      return {
        used: Object.fromEntries(limits.map(({ name, counts, most }) => [name, (100 * tally[counts]) / most])),
        charge: { ...charge, refund: () => (refunded ??= refund()) },
      };
    },
  };
}

const toLimits = (name: LimitName, counts: DailyLimit['counts'], most: number | undefined): DailyLimit[] =>
  most === undefined ? [] : [{ name, counts, most }];

/** What the whole deployment may spend on one day. */
export interface SpendLimit {
  /** Returns what was spent, in percent. Throws `service_unavailable` if that is everything, or the store does not answer. */
  check(): Promise<number>;
  /** Adds what an answer cost, in micros. Never throws. */
  add(cost: number): Promise<unknown>;
}

interface SpendDependencies {
  readonly globalCounters: GlobalCounters;
  readonly spendLimit: number;
  readonly now: () => number;
  /** Called when the cost of answers may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** How old the sum may be that requests are compared with, in milliseconds. */
const readEvery = 10_000;

/** What has been read of a day's spending. */
interface Reading {
  readonly period: number;
  readonly goodUntil: number;
  readonly tally: Promise<GlobalCounts>;
  /** What this process has spent since. */
  ownSince: number;
}

/** Costs that leave in one write. */
interface Addition {
  readonly period: number;
  readonly written: Promise<unknown>;
  cost: number;
}

/** Nothing is reserved: what is in flight, and what other processes spent since the sum was read, may pass the limit. */
export function createSpendLimit({ spendLimit, globalCounters, now, onLost }: SpendDependencies): SpendLimit {
  let reading: Reading | undefined;
  /** Waits for the write before it, and takes up what other answers cost until then. */
  let next: Addition | undefined;
  let lastTurn: Promise<unknown> = Promise.resolve();

  /** One after the other, so that a sum that is read holds what this process spent before, and nothing that it spent since. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const turn = lastTurn.then(act);
    lastTurn = turn.catch(() => {});
    return turn;
  };
  const readingOf = ({ period }: Day): Reading => {
    if (reading?.period === period && now() < reading.goodUntil) return reading;
    next = undefined; // what is added from here on counts as own, so the sum must not hold it
    const tally = inTurn(() => globalCounters.read(period)).catch((error) => {
      if (reading?.tally === tally) reading = undefined;
      throw error;
    });
    reading = { period, goodUntil: now() + readEvery, tally, ownSince: 0 };
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
      const spent = (await current.tally).spent + current.ownSince;
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
