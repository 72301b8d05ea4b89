import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dayOf } from '../../../lambda/budget/time.ts';
import { createToken, type OpenReservation } from '../../../lambda/store/counters.ts';
import { newWindow, stores, type TestStore } from '../../support/stores.ts';

/* What every store keeps to, whatever it is made of. */

const noon = Date.UTC(2026, 10, 21, 12);
const day = dayOf(noon);
const hour = 3_600_000;
const largest = Number.MAX_SAFE_INTEGER;

describe.each(Object.entries(stores))('%s', (_, open) => {
  let opened: TestStore;
  beforeAll(async () => {
    opened = await open(() => noon);
  });
  afterAll(async () => opened[Symbol.asyncDispose]());

  describe('counts of the deployment', () => {
    test('grow up to their limits, all of them or none, and shrink', async () => {
      const { add, read } = opened.store.globalCounters;
      const results = await Promise.all(
        Array.from({ length: 8 }, () => add(day, { requests: 1, guests: 1 }, { requests: 100, guests: 5 })),
      );
      expect(results.filter(({ added }) => !added).map(({ counts }) => counts)).toEqual(
        Array(3).fill({ requests: 5, guests: 5, spent: 0 }),
      );
      expect(await add(day, { requests: 1 }, { requests: 5 })).toMatchObject({ added: false });
      expect(await add(day, { requests: 1 }, { requests: 6 })).toMatchObject({ added: true });
      await add(day, { requests: -1, guests: -1 });
      await add(day, { spent: 12 });
      expect(await read(day.period)).toEqual({ requests: 5, guests: 4, spent: 12 });
      expect(await read(day.period + 1)).toEqual({ requests: 0, guests: 0, spent: 0 });
    });

    test('refuse what would make a sum too large to be exact', async () => {
      const { add, read } = opened.store.globalCounters;
      const other = dayOf(noon + 30 * 24 * hour);
      await add(other, { spent: largest });
      await expect(add(other, { spent: 1, requests: 1 })).rejects.toThrow(RangeError);
      expect(await read(other.period)).toEqual({ requests: 0, guests: 0, spent: largest });
    });
  });

  test('a stop holds until it is lifted, with those before it and their last reason', async () => {
    const { stopSwitch } = opened.adminStore;
    expect(await opened.store.readStop()).toBeUndefined();
    await stopSwitch.stop({ at: 'noon', reason: 'tea' });
    expect(await opened.store.readStop()).toEqual({ at: 'noon', reason: 'tea' });
    const stopped = await stopSwitch.stop({ at: 'one', reason: undefined });
    expect(stopped).toMatchObject({ at: 'one', reason: 'tea', earlier: [{ at: 'noon', reason: 'tea' }] });
    await stopSwitch.stop({ at: 'two', reason: 'cake' });
    const all = {
      at: 'two',
      reason: 'cake',
      earlier: [
        { at: 'noon', reason: 'tea' },
        { at: 'one', reason: 'tea' },
      ],
    };
    expect([await stopSwitch.read(), await stopSwitch.resume()]).toEqual([all, all]);
    expect([await stopSwitch.resume(), await opened.store.readStop()]).toEqual([undefined, undefined]);
  });

  test('everybody’s counters are read page by page, with what is used now', async () => {
    const other = { ...(await open(() => noon)) };
    const { counters } = other.store;
    const budget = { amount: 100, window: 'month', period: 'm682', resetAt: noon, reserve: 40 } as const;
    const spender = newWindow(noon, { budget });
    const { period: _, ...forLife } = newWindow(noon);
    await counters.charge(spender, createToken());
    await counters.charge(forLife, createToken());
    await counters.charge(newWindow(noon, { period: day.period - 1 }), createToken());
    // Of whom nothing counts any more.
    const [refunded, token] = [newWindow(noon), createToken()];
    await counters.charge(refunded, token);
    await counters.refund(refunded, token);
    const found = [];
    for await (const page of other.adminStore.counters.scan(noon, async () => {})) found.push(...page.counters);
    expect(found).toHaveLength(2);
    expect(found.find(({ item }) => item === spender.item)).toMatchObject({
      ...{ usedToday: 1, usedInLifetime: 0 },
      budgets: { day: { taken: 0 }, month: { taken: 40, open: [{ amount: 40 }] } },
    });
    expect(found.find(({ item }) => item === forLife.item)).toMatchObject({ usedToday: 0, usedInLifetime: 1 });
    const { open: reservations } = await other.adminStore.counters.read(spender);
    const { settle } = other.adminStore.counters;
    expect(await settle(spender, reservations[0] as OpenReservation, { spent: 0 })).toMatchObject({
      taken: 0,
      open: [],
    });
    await other[Symbol.asyncDispose]();
  });

  test('a process that ends gives up what it waits for, and whatever comes later', async () => {
    const other = await open(() => noon);
    const charge = other.store.counters.charge(newWindow(noon), createToken());
    other.store.giveUp();
    await expect(charge).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(other.store.readStop()).rejects.toMatchObject({ code: 'service_unavailable' });
    await other[Symbol.asyncDispose]();
  });
});
