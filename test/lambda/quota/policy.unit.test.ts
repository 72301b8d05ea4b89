import { describe, expect, test } from '@jest/globals';
import { budgetWindows } from '../../../lambda/budget/budget-window.ts';
import { secondsUntil } from '../../../lambda/budget/time.ts';
import type { Identity } from '../../../lambda/identity/identify.ts';
import { type Limits, quotaWindow, readCounterName, tokenCountWindow } from '../../../lambda/quota/policy.ts';
import { testRows } from '../../support/test-rows.ts';

const limits: Limits = { guestLimit: 3, guestWindow: 'lifetime', memberLimit: 50, burstLimit: 20 };
const midnight = Date.UTC(2026, 10, 22);
const lastMoment = midnight - 1;
const today = midnight / 86_400_000 - 1;

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'alice' };

describe('quotaWindow', () => {
  test('counts a guest for a lifetime, or by the day if so configured', () => {
    const forGood = { item: 'guest#net', limit: 3, burst: 20, minute: midnight / 60_000 - 1 };
    expect(quotaWindow(guest, lastMoment, limits)).toEqual(forGood);
    const daily = quotaWindow(guest, lastMoment, { ...limits, guestWindow: 'daily' });
    expect(daily).toMatchObject({ ...forGood, period: today, resetAt: midnight });
  });

  test('counts a member by the day, which ends at midnight UTC', () => {
    const before = quotaWindow(member, lastMoment, limits);
    expect(before).toMatchObject({ item: 'member#alice', period: today, limit: 50, resetAt: midnight });
    const after = quotaWindow(member, midnight, limits);
    expect(after).toMatchObject({ item: 'member#alice', period: today + 1, resetAt: midnight + 86_400_000 });
    expect(after.minute).toBe(before.minute + 1);
  });

  testRows([
    [undefined, 'member#alice', 50],
    [{ limit: 7 }, 'key#key_1', 7],
    [{ limit: 0 }, 'key#key_1', 0],
  ])('counts a key by itself if it has a limit of its own', (own, item, limit) => {
    expect(quotaWindow({ ...member, keyId: 'key_1', own }, lastMoment, limits)).toMatchObject({ item, limit });
  });
});

testRows<[Identity, object]>([
  [guest, { kind: 'guest', name: 'net' }],
  [
    { ...member, member: 'a:b@c.d' },
    { kind: 'member', name: 'a:b@c.d' },
  ],
  [
    { ...member, keyId: 'key_1', own: { limit: 7 } },
    { kind: 'key', name: 'key_1' },
  ],
])('the item of a quota counter says whose it is', (identity, name) => {
  expect(readCounterName(quotaWindow(identity, lastMoment, limits).item)).toEqual(name);
  expect(readCounterName(tokenCountWindow(identity, lastMoment, limits).item)).toBeUndefined();
});

describe('tokenCountWindow', () => {
  test('is another counter than the quota, without a limit, that expires', () => {
    const window = tokenCountWindow(member, lastMoment, limits);
    expect(window.item).not.toBe(quotaWindow(member, lastMoment, limits).item);
    expect(window).toMatchObject({ limit: Number.MAX_SAFE_INTEGER, burst: 20, minute: midnight / 60_000 - 1 });
    expect(window.expiresAt).toBeGreaterThan(midnight);
    expect(window).not.toHaveProperty('resetAt');
  });
});

testRows([
  [5000, 5001, 1],
  [5000, 6000, 1],
  [5000, 6001, 2],
  [5000, 1000, 0],
])('seconds are rounded up, so that nobody comes back too early', (now, time, seconds) => {
  expect(secondsUntil(time, now)).toBe(seconds);
});

test('a key with a limit of its own has its own counters, and its other limits are its member’s', () => {
  const memberBudget = { amount: 5, window: 'month' } as const;
  const key = (own?: object) => ({ ...member, keyId: 'key_1', own }) as Identity;
  const windowFor = (own?: object) => quotaWindow(key(own), lastMoment, { ...limits, memberBudget });
  const { burst, limit } = windowFor();
  expect(windowFor({ burst: 3 })).toMatchObject({ item: 'key#key_1', burst: 3, limit, budget: memberBudget });
  const budget = { amount: 7, window: 'day' } as const;
  expect(windowFor({ budget })).toMatchObject({ item: 'key#key_1', burst, limit, budget });
  expect(windowFor().budget).toMatchObject(memberBudget);
  for (const guestWindow of ['lifetime', 'daily'] as const) {
    expect(quotaWindow(guest, lastMoment, { ...limits, guestWindow, memberBudget }).budget).toBeUndefined();
  }
});

test('an item lives a day longer than its window, and with a budget a day longer than every budget window', () => {
  for (const window of budgetWindows) {
    const expiresAt = (now: number) =>
      quotaWindow(member, now, { ...limits, memberBudget: { amount: 5, window } }).expiresAt;
    expect([window, expiresAt(Date.UTC(2026, 10, 2))]).toEqual([window, Date.UTC(2026, 11, 2)]);
    // The week that ends last in November ends in December.
    expect([window, expiresAt(Date.UTC(2026, 10, 30))]).toEqual([window, Date.UTC(2026, 11, 8)]);
  }
  expect(quotaWindow(member, lastMoment, limits).expiresAt).toBe(midnight + 86_400_000);
});
