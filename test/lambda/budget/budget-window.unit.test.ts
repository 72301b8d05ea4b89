import { expect, test } from '@jest/globals';
import { budgetPeriod, budgetUsage, isLost } from '../../../lambda/budget/budget-window.ts';
import { testRows } from '../../support/test-rows.ts';

const at = (time: string) => Date.parse(time);

testRows([
  ['day', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00Z', 'd20780'],
  ['day', '2026-11-23T23:59:59.999Z', '2026-11-24T00:00:00Z', 'd20780'],
  ['week', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00Z', 'w2968'],
  ['week', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00Z', 'w2969'],
  ['month', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00Z', 'm682'],
  ['month', '2024-02-29T23:59:59.999Z', '2024-03-01T00:00:00Z', 'm649'],
  ['month', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z', 'm683'],
] as const)('periods end in UTC, weeks on Monday, and are named by number', (window, now, endsAt, name) => {
  expect(budgetPeriod(window, at(now))).toEqual({ name, endsAt: at(endsAt) });
});

const minute = 29_920_320;
const now = minute * 60_000 + 59_999;
const requestTimeout = 120_000;
const month = { amount: 20_000_000, window: 'month' } as const;
const reserved = (ago: number, amount: number, budgetPeriod = 'm682') => ({
  minute: minute - ago,
  ...{ budgetPeriod, amount },
});

test('what is taken from a budget is spent, reserved, or lost with its process', () => {
  const open = [reserved(0, 100), reserved(2, 20), reserved(4, 3), reserved(60, 4), reserved(60, 5_000, 'm681')];
  expect(budgetUsage(month, { taken: 1_127, open }, now, requestTimeout)).toEqual({
    ...{ limit: 20_000_000, spent: 1_000, reserved: 120, unsettled: 7, remaining: 19_998_873 },
    ...{ window: 'month', resetAt: at('2026-12-01T00:00:00Z') },
  });
});

test('nothing is left of a budget that is overspent', () => {
  const figures = budgetUsage(month, { taken: 20_000_001, open: [] }, now);
  expect(figures).toMatchObject({ spent: 20_000_001, remaining: 0 });
});

test('a reservation is lost once its request can no longer run, however late in its minute it was made', () => {
  const age = (time: number) => isLost(reserved(0, 1), minute * 60_000 + time, requestTimeout);
  expect([age(0), age(239_999), age(240_000)]).toEqual([false, false, true]);
});
