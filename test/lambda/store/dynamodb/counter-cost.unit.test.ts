import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { CallService } from '../../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../../lambda/aws/repeat.ts';
import { type BudgetWindow, budgetPeriod } from '../../../../lambda/budget/budget-window.ts';
import { dayOf, minuteOf } from '../../../../lambda/budget/time.ts';
import { type CounterWindow, createToken, markToken, type OpenReservation } from '../../../../lambda/store/counters.ts';
import { createCounters } from '../../../../lambda/store/dynamodb/counters.ts';
import { mostBurst } from '../../../../lambda/store/dynamodb/schema.ts';
import { type Item, itemSize, type Update, writeUnits } from '../../../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../../../support/expressions.ts';
import { testRows } from '../../../support/test-rows.ts';

/** A store in memory, for tests that would take minutes with an emulator. */
function createMemoryCaller(...stored: readonly Item[]) {
  const items = new Map(stored.map((item) => [item.pk?.S, item]));
  /** The units of each write so far, including refused ones: those of the larger item of before and after. */
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
])('the size of an attribute includes its name', (_name, value, size) => {
  expect(itemSize({ four: value })).toBe(4 + size);
  expect(itemSize({ four: value, pk: { S: 'x' } })).toBe(4 + size + 3);
});

test('an item at the highest possible burst limit, with every charge refunded, is not too large', () => {
  const tokens = (count: number) => Array<string>(count).fill(createToken());
  const ofMinute = [...tokens(10_000), ...tokens(10_000).map((token) => markToken(token, 'r'))];
  const item = { pk: { S: 'm'.repeat(100) }, w29000000: { BS: ofMinute }, w29000001: { BS: ofMinute } };
  expect(itemSize(item)).toBeLessThan(400 * 1024 - 200);
});

const noon = Date.UTC(2026, 11, 1, 12);
const modelKinds = ['text', 'vision', 'embedding'] as const;
/** Write units per second of a partition, and so of an item. */
const unitsPerSecond = 1_000;
const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);

const { period: today } = dayOf(noon);
const largeCounts = { [`u${today - 1}`]: { N: '9000000' }, [`u${today}`]: { N: '9000000' } };
const longestName = `count_tokens#member#0x${'0'.repeat(40)}`;

/** A caller's counter, with charges and refunds. */
function createWorld(burst: number, item = `member#0x${'0'.repeat(40)}`) {
  const store = createMemoryCaller({ pk: { S: item }, ...(item === longestName && largeCounts) });
  const clock = { time: noon };
  let settled = 0;
  const counters = createCounters(store.callDynamoDb, 'quota', () => clock.time);
  const window = (): CounterWindow => ({
    ...{ item, limit: 9_999_999, burst, minute: minuteOf(clock.time), ...dayOf(clock.time) },
  });
  const budgetWindow = (kind: BudgetWindow): CounterWindow => {
    const { name: period, endsAt: resetAt } = budgetPeriod(kind, clock.time);
    return { ...window(), budget: { amount: 1e15, window: kind, period, resetAt, reserve: 1_000_000_000 } };
  };
  /** Charges, and returns the refund. */
  const charge = async () => {
    const [given, token] = [window(), createToken()];
    expect((await counters.charge(given, token)).granted).toBe(true);
    return () => counters.refund(given, token);
  };
  /** Charges and reserves, and returns the settlement. */
  const reserve = async (kind: BudgetWindow = 'month') => {
    const given = budgetWindow(kind);
    const { reservation } = (await counters.charge(given, createToken())) as { reservation: OpenReservation };
    const used = { kind: modelKinds[settled++ % 3] ?? 'text', input: 9_999_999_999, output: 999_999_999 };
    return () => counters.settle(given, reservation, { spent: 999_999_999, used });
  };
  return { store, clock, charge, reserve, item: () => store.load(item) };
}

describe('charges spread over minutes', () => {
  testRows([
    { rate: 20, units: 1, refunds: true },
    { rate: mostBurst, units: 3, refunds: false },
  ])('cost one write each, with few units', async ({ rate, units, refunds }) => {
    const { store, clock, charge } = createWorld(rate, longestName);
    for (let count = 0; count < 4 * rate; count += 1) {
      clock.time = noon + Math.floor((count * 60_000) / rate);
      const refund = await charge();
      if (refunds) await refund();
    }
    expect(store.units).toHaveLength(4 * rate * (refunds ? 2 : 1));
    expect(Math.max(...store.units)).toBe(units);
  });
});

test('a counter with three windows, twenty open reservations and two minutes of tokens takes two units', async () => {
  const { clock, reserve, item: load } = createWorld(21);
  // The periods before these: a Sunday, then the last day of a month.
  for (const time of [Date.UTC(2026, 10, 29), Date.UTC(2026, 10, 30), noon - 3_600_000]) {
    clock.time = time;
    for (const kind of ['day', 'week', 'month'] as const) await (await reserve(kind))();
  }
  clock.time = noon;
  for (let count = 0; count < 20; count += 1) await (await reserve())();
  clock.time += 60_000;
  for (let count = 0; count < 20; count += 1) await reserve();
  const item = load();
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

test('usage by model takes at most 120 bytes per model, including that of earlier windows', async () => {
  const { clock, reserve, item: load } = createWorld(9_999);
  const sizes = [];
  for (const at of [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1), Date.UTC(2027, 1, 1)]) {
    clock.time = at;
    for (let count = 0; count < 30; count += 1) await (await reserve())();
    const uses = Object.entries(load()).filter(([name]) => /^[tve][ios]m/.test(name));
    expect([...new Set(uses.map(([name]) => name.slice(2)))]).toEqual([budgetPeriod('month', at).name]);
    sizes.push(itemSize(Object.fromEntries(uses)));
  }
  expect(sizes).toHaveLength(4);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(120);
});

describe('the highest burst limit', () => {
  /** The units of the second around a minute's end, if all charges that both minutes allow come at once. */
  async function unitsOfWorstSecond(burst: number, kind: 'charge' | 'reserve') {
    const { store, clock, item, ...world } = createWorld(burst, kind === 'charge' ? longestName : undefined);
    const begin = world[kind];
    // In the minute before, every charge was refunded or settled.
    for (let count = 0; count < burst; count += 1) await (await begin())();
    store.units.length = 0;
    const ends: (() => Promise<unknown>)[] = [];
    for (const at of [119_500, 120_000]) {
      clock.time = noon + at;
      for (let count = 0; count < burst; count += 1) ends.push(await begin());
    }
    if (kind === 'reserve') for (const end of ends) await end();
    expect(Object.keys(item()).filter((name) => name.startsWith('h'))).toEqual([]);
    return sum(store.units);
  }

  const [, named] = /up to a burst of (\d+)/.exec(readFileSync('docs/hosting.md', 'utf8')) ?? [];
  testRows([
    [mostBurst, 'charge'],
    // With a budget it is what the docs say, which nothing enforces. Includes reservations and settlements.
    [Number(named), 'reserve'],
  ] as const)('is what one item can serve in its worst second, and hardly more', async (burst, kind) => {
    const units = await unitsOfWorstSecond(burst, kind);
    expect(units).toBeLessThanOrEqual(unitsPerSecond);
    expect(units).toBeGreaterThan(0.97 * unitsPerSecond);
  });
});
