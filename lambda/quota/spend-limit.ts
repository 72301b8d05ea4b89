import { GatewayError } from '../errors.ts';
import type { Tallies } from './counter-store.ts';
import { dayOf } from './policy.ts';
import { allSpent } from './refusal.ts';

/** What the whole deployment may spend on one day. */
export interface SpendLimit {
  /** Returns what was spent, in percent. Throws `service_unavailable` if that is everything, or the store does not answer. */
  check(): Promise<number>;
  /** Adds what an answer cost, in micros. Never throws. */
  add(cost: number): Promise<void>;
}

interface Dependencies {
  readonly tallies: Pick<Tallies, 'addAmount' | 'read'>;
  readonly spendLimit: number | undefined;
  readonly now: () => number;
  readonly createToken: () => string;
  /** Called when an answer's cost may not have been added. */
  readonly onLost: (error: unknown) => void;
}

/** So that none becomes hot: each takes a thousand writes a second. */
const parts = 8;
/** How old the sum may be that requests are compared with, in milliseconds. */
const readEvery = 10_000;

/** Nothing is reserved: what is in flight, and what was spent since the sum was read, may pass the limit. Undefined without one. */
export function createSpendLimit({ spendLimit, ...dependencies }: Dependencies): SpendLimit | undefined {
  if (spendLimit === undefined) return undefined;
  const { tallies, now, createToken, onLost } = dependencies;
  let next = Buffer.from(createToken(), 'base64')[0] ?? 0;
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
      const { code, message, ...options } = allSpent(resetAt, now());
      throw new GatewayError(code, message, { ...options, reason: 'spend_limit' });
    },
    add: async (cost) => {
      const { period, expiresAt } = dayOf(now());
      next += 1;
      await tallies.addAmount(itemOf(period, next), cost, expiresAt).catch(onLost);
    },
  };
}
