import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { dayOf, minuteOf } from '../../../lambda/budget/time.ts';
import {
  type ChargeResult,
  type CounterBudget,
  type CounterWindow,
  createToken,
  type OpenReservation,
} from '../../../lambda/store/counters.ts';
import { grantedIn, newWindow, stores, type TestStore } from '../../support/stores.ts';
import { testRows } from '../../support/test-rows.ts';

/* What every store keeps to, whatever it is made of. */

const noon = Date.UTC(2026, 10, 21, 12);
const day = dayOf(noon);
const hour = 3_600_000;
const largest = Number.MAX_SAFE_INTEGER;

describe.each(Object.entries(stores))('%s', (_, open) => {
  let opened: TestStore;
  let time = noon;
  beforeAll(async () => {
    opened = await open(() => time);
  });
  afterAll(async () => opened[Symbol.asyncDispose]());
  beforeEach(() => {
    time = noon;
  });

  const chargeMany = (window: CounterWindow, count: number): Promise<ChargeResult[]> =>
    Promise.all(Array.from({ length: count }, () => opened.store.counters.charge(window, createToken())));

  describe('charges', () => {
    testRows([
      { limit: 3, burst: 20, before: 0, passing: 3 },
      { limit: 50, burst: 20, before: 12, passing: 8 },
      { limit: 0, burst: 20, before: 0, passing: 0 },
    ])('pass as long as there is room, however many come at once', async (given) => {
      const window = newWindow(noon, given);
      expect(grantedIn(await chargeMany(window, given.before))).toBe(given.before);
      expect(grantedIn(await chargeMany(window, 30))).toBe(given.passing);
      const { used, inMinute } = await opened.store.counters.read(window);
      expect([used, inMinute]).toEqual([given.before + given.passing, given.before + given.passing]);
    });

    test('are counted by the day and the minute, each with its limit, of which the day’s is named first', async () => {
      const { charge, read } = opened.store.counters;
      const window = newWindow(noon, { limit: 3, burst: 2 });
      await chargeMany(window, 2);
      expect(await charge(window, createToken())).toMatchObject({
        granted: false,
        reason: 'burst',
        used: 2,
        inMinute: 2,
      });
      const next = { ...window, minute: window.minute + 1 };
      expect(await charge(next, createToken())).toMatchObject({ granted: true, used: 3, inMinute: 1 });
      expect(await charge(window, createToken())).toMatchObject({
        granted: false,
        reason: 'quota',
        used: 3,
        inMinute: 2,
      });
      expect(await charge({ ...next, limit: 2 }, createToken())).toMatchObject({
        granted: false,
        reason: 'quota',
        used: 3,
      });
      const tomorrow = { ...window, period: day.period + 1, minute: window.minute + 1_440 };
      expect(await charge(tomorrow, createToken())).toMatchObject({ granted: true, used: 1, inMinute: 1 });
      const { period: _, ...forLife } = window;
      expect(await read(forLife)).toMatchObject({ used: 0 });
      expect(await read(window)).toMatchObject({ used: 3 });
    });

    test('count once for each token, however often they come', async () => {
      const window = newWindow(noon);
      const token = createToken();
      const results = await Promise.all(Array.from({ length: 5 }, () => opened.store.counters.charge(window, token)));
      expect(grantedIn(results)).toBe(5);
      expect(await opened.store.counters.read(window)).toMatchObject({ used: 1, inMinute: 1 });
      expect(await opened.store.counters.charge({ ...window, limit: 1 }, token)).toMatchObject({
        granted: true,
        used: 1,
      });
    });

    test('are taken back once for each token, and leave the burst as it is', async () => {
      const { refund, read } = opened.store.counters;
      const window = newWindow(noon);
      const token = createToken();
      expect(await refund(window, token)).toBeUndefined();
      await opened.store.counters.charge(window, token);
      await chargeMany(window, 2);
      time += hour;
      for (let repeat = 0; repeat < 2; repeat += 1)
        expect(await refund(window, token)).toMatchObject({ used: 2, inMinute: 3 });
      expect(await read(window)).toMatchObject({ used: 2, inMinute: 3 });
      for (let repeat = 0; repeat < 3; repeat += 1) await refund(window, createToken());
      expect(await read(window)).toMatchObject({ used: 0 });
    });
  });

  describe('budgets', () => {
    const budgetOf = (more: Partial<CounterBudget> = {}): CounterBudget => ({
      ...{ amount: 100, window: 'day', period: `d${day.period}`, resetAt: day.resetAt, reserve: 40 },
      ...more,
    });
    const charge = async (window: CounterWindow) => {
      const result = await opened.store.counters.charge(window, createToken());
      return { ...result, reservation: (result as { reservation?: OpenReservation }).reservation as OpenReservation };
    };

    test('are reserved from as long as they last, however many come at once', async () => {
      const window = newWindow(noon, { budget: budgetOf() });
      const results = await chargeMany(window, 10);
      expect(grantedIn(results)).toBe(2);
      expect(results.filter(({ granted }) => !granted)).toEqual(
        Array(8).fill(expect.objectContaining({ reason: 'budget', taken: 80 })),
      );
      expect(await opened.store.counters.read(window)).toMatchObject({ used: 2, taken: 80 });
      expect(grantedIn(await chargeMany({ ...window, budget: budgetOf({ reserve: 20 }) }, 2))).toBe(1);
      const free = { ...window, budget: budgetOf({ amount: 1, reserve: undefined }) };
      expect(await opened.store.counters.charge(free, createToken())).toMatchObject({ granted: true, taken: 100 });
      const tooDear = newWindow(noon, { budget: budgetOf({ reserve: 101 }) });
      expect(await charge(tooDear)).toMatchObject({ granted: false, reason: 'budget', used: 0 });
    });

    test('are settled once, with what the answer used, and the charge of a failed one taken back', async () => {
      const { settle, read } = opened.store.counters;
      const window = newWindow(noon, { budget: budgetOf() });
      const { reservation, open } = await charge(window);
      expect(open).toMatchObject([{ name: reservation.name, amount: 40 }]);
      expect(reservation).toMatchObject({ minute: window.minute, budgetPeriod: `d${day.period}`, amount: 40 });
      const used = { kind: 'vision', input: 300, output: 20 } as const;
      expect(await settle(window, reservation, { spent: 7, used })).toMatchObject({ used: 1, taken: 7, open: [] });
      expect(await settle(window, reservation, { spent: 7, used })).toBeUndefined();
      const { reservation: failed } = await charge(window);
      expect(await settle(window, failed, { spent: 0, refunded: true })).toMatchObject({ used: 1, taken: 7 });
      expect(await settle(window, failed, { spent: 0, refunded: true })).toBeUndefined();
      const { reservation: dear } = await charge(window);
      expect(await settle(window, dear, { spent: 200, used })).toMatchObject({ used: 2, taken: 207 });
      const uses = [{ kind: 'vision', input: 600, output: 40, spent: 207 }];
      expect(await read(window)).toMatchObject({ used: 2, taken: 207, open: [], uses });
      expect(await charge(window)).toMatchObject({ granted: false, reason: 'budget' });
    });

    test('count by themselves in each period, and settle in that of the reservation', async () => {
      const { settle, read } = opened.store.counters;
      const window = newWindow(noon, { budget: budgetOf() });
      const { reservation } = await charge(window);
      const nextDay = dayOf(day.resetAt);
      const next = {
        ...{ ...window, ...nextDay, minute: minuteOf(day.resetAt) },
        budget: budgetOf({ period: `d${nextDay.period}`, resetAt: nextDay.resetAt }),
      };
      expect(await charge(next)).toMatchObject({ granted: true, used: 1, taken: 40 });
      await settle(next, reservation, { spent: 50 });
      expect(await read(next)).toMatchObject({ taken: 40 });
      expect(await read(window)).toMatchObject({ taken: 50 });
      const month = { ...window, budget: budgetOf({ window: 'month', period: 'm682' }) };
      expect(await read(month)).toMatchObject({ used: 1, taken: 0 });
    });

    test('refuse what would make a sum too large to be exact, and change nothing then', async () => {
      const { settle, read } = opened.store.counters;
      const window = newWindow(noon, { budget: budgetOf({ amount: largest, reserve: largest - 10 }) });
      const { reservation } = await charge(window);
      await settle(window, reservation, { spent: largest - 10, used: { kind: 'text', input: largest, output: 1 } });
      const { reservation: second } = await charge({ ...window, budget: budgetOf({ amount: largest, reserve: 10 }) });
      await expect(settle(window, second, { spent: 11 })).rejects.toThrow(RangeError);
      await expect(settle(window, second, { spent: 0, used: { kind: 'text', input: 1, output: 0 } })).rejects.toThrow(
        RangeError,
      );
      expect(await read(window)).toMatchObject({ taken: largest, open: [{ amount: 10 }] });
      expect(await settle(window, second, { spent: 3 })).toMatchObject({ taken: largest - 7, open: [] });
    });
  });
});
