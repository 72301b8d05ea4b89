import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { CallService } from '../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../lambda/aws/repeat.ts';
import { type BudgetWindow, budgetPeriod } from '../../../lambda/budget/budget-window.ts';
import {
  type CounterWindow,
  createToken,
  markToken,
  type OpenReservation,
} from '../../../lambda/quota/counter-store.ts';
import { dayOf, minuteOf } from '../../../lambda/quota/policy.ts';
import { createCounters } from '../../../lambda/tables/counters.ts';
import { mostBurst } from '../../../lambda/tables/schema.ts';
import { type Item, itemSize, type Update, writeUnits } from '../../../lambda/tables/table.ts';
import { evaluateUpdate } from '../../support/expressions.ts';
import { testRows } from '../../support/test-rows.ts';

/** A store by the model, for tests that would take minutes with an emulator. */
function createMemoryCaller(...stored: readonly Item[]) {
  const items = new Map(stored.map((item) => [item.pk?.S, item]));
  /** The units of each write so far, refused ones included: those of the larger item, before or after it. */
  const units: number[] = [];
  const write = (input: Update & { readonly Key: { readonly pk: { readonly S: string } } }) => {
    const { pk } = input.Key;
    const before = items.get(pk.S);
    const after = evaluateUpdate(before ?? { pk }, input);
    units.push(writeUnits(Math.max(...[before, after].map((item) => (item ? itemSize(item) : 0)))));
    if (!after) {
      const details = before ? { Item: before } : {};
      throw new ServiceError('ConditionalCheckFailedException', 'the model refuses', { status: 400, details });
    }
    items.set(pk.S, after);
    return { Attributes: after };
  };
  const call = async (operation: string, input: Parameters<typeof write>[0]) =>
    operation === 'GetItem' ? { Item: items.get(input.Key.pk.S) } : write(input);
  return { callDynamoDb: call as CallService, units, load: (item: string): Item => items.get(item) ?? {} };
}

testRows([
  ['a text', { S: 'naïve' }, 6],
  ['a number, two digits a byte', { N: '12345' }, 4],
  ['bytes that are one set', { BS: ['AAAAAAA=', 'AAA='] }, 3 + 6 + 3],
])('an attribute counts with its name', (_name, value, size) => {
  expect(itemSize({ four: value })).toBe(4 + size);
  expect(itemSize({ four: value, pk: { S: 'x' } })).toBe(4 + size + 3);
});

test('an item at the highest burst limit of all, with every charge refunded, is not too large', () => {
  const tokens = (count: number) => Array<string>(count).fill(createToken());
  const ofMinute = [...tokens(10_000), ...tokens(10_000).map((token) => markToken(token, 'r'))];
  const item = { pk: { S: 'm'.repeat(100) }, w29000000: { BS: ofMinute }, w29000001: { BS: ofMinute } };
  expect(itemSize(item)).toBeLessThan(400 * 1024 - 200);
});

const midnight = Date.UTC(2026, 10, 22);

/** A counter from yesterday, with a name as long and counts as large as there are. */
async function createWorld(burst: number) {
  const item = `count_tokens#member#0x${'0'.repeat(40)}`;
  const { period } = dayOf(midnight);
  const counts = { [`u${period - 1}`]: { N: '9000000' }, [`u${period}`]: { N: '9000000' } };
  const store = createMemoryCaller({ pk: { S: item }, ...counts });
  const clock = { time: midnight - 1 };
  const counters = createCounters(store.callDynamoDb, 'quota', () => clock.time);
  const window = (): CounterWindow => ({
    ...{ item, limit: 9_999_999, burst },
    ...{ minute: minuteOf(clock.time), ...dayOf(clock.time) },
  });
  const charge = async () => {
    const token = createToken();
    expect((await counters.charge(window(), token)).granted).toBe(true);
    return () => counters.refund(window(), token);
  };
  await charge();
  clock.time = midnight;
  return { store, clock, charge };
}

/** What one partition, and so one item, takes. */
const unitsPerSecond = 1_000;

const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);

describe('charges spread over minutes', () => {
  testRows([
    { rate: 20, units: 1 },
    { rate: mostBurst, units: 3 },
  ])('cost one write each, of few units', async ({ rate, units }) => {
    const { store, clock, charge } = await createWorld(rate);
    store.units.length = 0;
    for (let count = 0; count < 3 * rate; count += 1) {
      await charge();
      clock.time = midnight + Math.floor(((count + 1) * 60_000) / rate);
    }
    expect(store.units).toHaveLength(3 * rate);
    expect(Math.max(...store.units)).toBe(units);
  });

  test('cost a unit each at the default limits, even if all are refunded', async () => {
    const { store, clock, charge } = await createWorld(20);
    for (let minute = 0; minute < 4; minute += 1) {
      for (let count = 0; count < 20; count += 1) await (await charge())();
      clock.time += 60_000;
    }
    expect(Math.max(...store.units)).toBe(1);
  });
});

const noon = Date.UTC(2026, 11, 1, 12);

const windowOf = (kind: BudgetWindow, time: number, burst: number): CounterWindow => {
  const { name: period, endsAt: resetAt } = budgetPeriod(kind, time);
  const budget = { amount: 1e15, window: kind, period, resetAt, reserve: 1_000_000_000 };
  return {
    ...{ item: `member#0x${'0'.repeat(40)}`, limit: 1_000_000, burst, budget },
    ...{ minute: minuteOf(time), ...dayOf(time) },
  };
};

function createBudgetWorld(burst: number) {
  const store = createMemoryCaller();
  const clock = { time: noon };
  const counters = createCounters(store.callDynamoDb, 'quota', () => clock.time);
  const reserve = async (kind: BudgetWindow, { settles = false } = {}) => {
    const window = windowOf(kind, clock.time, burst);
    const { reservation } = (await counters.charge(window, createToken())) as { reservation: OpenReservation };
    const settle = () => counters.settle(window, reservation, { spent: 999_999_999 });
    if (settles) await settle();
    return settle;
  };
  return { counters, store, clock, reserve };
}

test('a counter with three windows, twenty open reservations and two minutes of tokens takes two units', async () => {
  const { store, clock, reserve } = createBudgetWorld(21);
  const kinds = ['day', 'week', 'month'] as const;
  // The periods before these: a Sunday, then the last day of a month.
  for (const time of [Date.UTC(2026, 10, 29), Date.UTC(2026, 10, 30), noon - 3_600_000]) {
    clock.time = time;
    for (const kind of kinds) await reserve(kind, { settles: true });
  }
  clock.time = noon;
  for (let count = 0; count < 20; count += 1) await reserve('month', { settles: true });
  clock.time += 60_000;
  for (let count = 0; count < 20; count += 1) await reserve('month');
  const item = store.load(windowOf('month', noon, 1).item);
  const namesOf = (letter: string) => Object.keys(item).filter((name) => name.startsWith(letter));
  expect([namesOf('b').length, namesOf('h').length, namesOf('w').length]).toEqual([6, 20, 2]);
  const settled = Object.fromEntries(Object.entries(item).filter(([name]) => !name.startsWith('h')));
  const [size, sizeSettled] = [itemSize(item), itemSize(settled)];
  expect([writeUnits(size), writeUnits(sizeSettled)]).toEqual([2, 1]);
  const docs = readFileSync('docs/decisions/9-a-budget-is-reserved-then-settled.md', 'utf8');
  expect(docs).toContain(`adds ${(size - sizeSettled) / 20} bytes`);
  expect(docs).toContain(
    `${size.toLocaleString('en')} bytes, so two write units; once they are settled ${sizeSettled}, so one`,
  );
});

describe('the highest burst limit', () => {
  /** A minute ends, and all that it and the next allow comes at once; every charge of the minute before was refunded. */
  async function unitsOfWorstSecond(burst: number) {
    const { store, clock, charge } = await createWorld(burst);
    for (let count = 0; count < burst; count += 1) await (await charge())();
    store.units.length = 0;
    for (const at of [119_500, 120_000]) {
      clock.time = midnight + at;
      for (let count = 0; count < burst; count += 1) await charge();
    }
    return sum(store.units);
  }

  test('is what one item serves in its worst second, and hardly higher', async () => {
    const units = await unitsOfWorstSecond(mostBurst);
    expect(units).toBeLessThanOrEqual(unitsPerSecond);
    expect(units).toBeGreaterThan(0.98 * unitsPerSecond);
  });

  test('of a caller with a budget, which nothing enforces, is what the docs say, reservations and settlements included', async () => {
    const [, named] = /up to a burst of (\d+)/.exec(readFileSync('docs/hosting.md', 'utf8')) ?? [];
    const burst = Number(named);
    const { counters, store, clock, reserve } = createBudgetWorld(burst);
    for (let count = 0; count < burst; count += 1) await reserve('month', { settles: true });
    store.units.length = 0;
    const settlements: (() => Promise<unknown>)[] = [];
    for (const at of [119_500, 120_000]) {
      clock.time = noon + at;
      for (let count = 0; count < burst; count += 1) settlements.push(await reserve('month'));
    }
    for (const settle of settlements) await settle();
    expect(store.units).toHaveLength(4 * burst);
    expect(sum(store.units)).toBeLessThanOrEqual(unitsPerSecond);
    expect(sum(store.units)).toBeGreaterThan(0.97 * unitsPerSecond);
    expect((await counters.read(windowOf('month', noon, burst))).open).toEqual([]);
  });
});
