import { expect, test } from '@jest/globals';
import { budgetFigures, isLost } from '../../../lambda/budget/figures.ts';

const minute = 29_920_320;
const now = minute * 60_000 + 59_999;
const requestTimeout = 120_000;
const month = { amount: 20_000_000, window: 'month' } as const;
const reserved = (ago: number, amount: number, budgetPeriod = 'm682') => ({
  minute: minute - ago,
  ...{ budgetPeriod, amount },
});

test('what is taken of a budget is spent, reserved, or lost with its process', () => {
  const open = [reserved(0, 100), reserved(2, 20), reserved(4, 3), reserved(60, 4), reserved(60, 5_000, 'm681')];
  expect(budgetFigures(month, { period: 'm682', taken: 1_127, open }, now, requestTimeout)).toEqual({
    ...{ limit: 20_000_000, spent: 1_000, reserved: 120, unsettled: 7, remaining: 19_998_873 },
  });
});

test('nothing is left of a budget that is overspent', () => {
  const figures = budgetFigures(month, { period: 'm682', taken: 20_000_001, open: [] }, now, requestTimeout);
  expect(figures).toMatchObject({ spent: 20_000_001, remaining: 0 });
});

test('a reservation is lost once its request can no longer run, however late in its minute it was made', () => {
  const age = (time: number) => isLost(reserved(0, 1), minute * 60_000 + time, requestTimeout);
  expect([age(0), age(239_999), age(240_000)]).toEqual([false, false, true]);
});
