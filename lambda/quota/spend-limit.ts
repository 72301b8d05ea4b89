import type { Tallies } from './counter-store.ts';
import { createParts, mostParts } from './parts.ts';
import { dayOf } from './time.ts';
import { allSpent } from './wording.ts';

/** What the whole deployment may spend on one day. */
export interface SpendLimit {
  /** Returns what was spent, in percent. Throws `service_unavailable` if that is everything, or the store does not answer. */
  check(): Promise<number>;
  /** Adds what an answer cost, in micros. Never throws. */
  add(cost: number): Promise<unknown>;
}

interface SpendDependencies {
  readonly tallies: Tallies;
  readonly spendLimit: number;
  readonly now: () => number;
  /** Called when the cost of answers may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** How old the sum may be that requests are compared with, in milliseconds. */
const readEvery = 10_000;

/** What has been read of a day's spending. */
interface Reading {
  readonly day: number;
  readonly goodUntil: number;
  readonly sum: Promise<number>;
  /** What this process has spent since. */
  ownSince: number;
}

/** Costs that leave in one write. */
interface Addition {
  readonly day: number;
  readonly written: Promise<unknown>;
  cost: number;
}

/** Nothing is reserved: what is in flight, and what other processes spent since the sum was read, may pass the limit. */
export function createSpendLimit({ spendLimit, tallies, now, onLost }: SpendDependencies): SpendLimit {
  const partsOf = createParts('spend_limit', mostParts, now);
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
  const readSum = async (day: number) => {
    const amounts = await Promise.all(partsOf(day).map(({ item }) => tallies.read(item)));
    return amounts.reduce((sum, amount) => sum + amount, 0);
  };
  const readingOf = (day: number): Reading => {
    if (reading?.day === day && now() < reading.goodUntil) return reading;
    next = undefined; // what is added from here on counts as own, so the sum must not hold it
    const sum = inTurn(() => readSum(day)).catch((error) => {
      if (reading?.sum === sum) reading = undefined;
      throw error;
    });
    reading = { day, goodUntil: now() + readEvery, sum, ownSince: 0 };
    return reading;
  };

  const openAddition = (day: number, expiresAt: number): Addition => {
    const opened: Addition = {
      day,
      cost: 0,
      written: inTurn(async () => {
        if (next === opened) next = undefined;
        const [{ item } = { item: '' }] = partsOf(day);
        await tallies.add(item, opened.cost, expiresAt).catch(onLost);
      }),
    };
    return opened;
  };

  return {
    check: async () => {
      const { period, resetAt } = dayOf(now());
      const current = readingOf(period);
      const spent = (await current.sum) + current.ownSince;
      if (spent < spendLimit) return (100 * spent) / spendLimit;
      throw allSpent(resetAt, now());
    },
    add: (cost) => {
      const { period: day, expiresAt } = dayOf(now());
      if (reading?.day === day) reading.ownSince += cost;
      if (next?.day !== day) next = openAddition(day, expiresAt);
      next.cost += cost;
      return next.written;
    },
  };
}
