import { expect, test } from '@jest/globals';
import { budgetFigures, budgetPeriod, budgetWindows, isLost } from '../../../lambda/budget/budget-window.ts';

const at = (time: string) => Date.parse(time);

test.each([
  ['day', '2026-11-23T00:00:00Z', '2026-11-24T00:00:00Z'],
  ['week', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['month', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
] as const)('a %s begins and ends in UTC, a week on Monday', (window, startsAt, endsAt) => {
  for (const now of ['2026-11-23T00:00:00.000Z', '2026-11-23T23:59:59.999Z']) {
    expect(budgetPeriod(window, at(now))).toMatchObject({ startsAt: at(startsAt), endsAt: at(endsAt) });
  }
});

test.each([
  ['week', '2024-12-31T12:00:00Z', '2024-12-30T00:00:00Z', '2025-01-06T00:00:00Z'],
  ['month', '2024-02-29T23:59:59Z', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
  ['month', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
] as const)('a %s over the end of a year or a leap day: %s', (window, now, startsAt, endsAt) => {
  expect(budgetPeriod(window, at(now))).toMatchObject({ startsAt: at(startsAt), endsAt: at(endsAt) });
});

test('the names of periods', () => {
  const now = at('2026-11-23T12:00:00Z');
  expect(budgetWindows.map((window) => budgetPeriod(window, now).name)).toEqual(['d20780', 'w2969', 'm682']);
});

test('periods follow one another without a gap, each with a name of its own', () => {
  for (const window of budgetWindows) {
    const names = new Set<string>();
    let now = at('2023-12-25T00:00:00Z');
    for (let turn = 0; turn < 100; turn += 1) {
      const period = budgetPeriod(window, now);
      expect(names.has(period.name)).toBe(false);
      names.add(period.name);
      expect(budgetPeriod(window, period.endsAt - 1)).toEqual(period);
      expect(budgetPeriod(window, period.endsAt).startsAt).toBe(period.endsAt);
      now = period.endsAt;
    }
  }
});

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
