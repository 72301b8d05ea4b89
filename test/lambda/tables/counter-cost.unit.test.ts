import { describe, expect, test } from '@jest/globals';
import { type CounterWindow, createToken } from '../../../lambda/quota/counter-store.ts';
import { dayOf, minuteOf } from '../../../lambda/quota/policy.ts';
import { bytesAtRate, mostBurst, unitsOfWorstSecond, unitsPerSecond } from '../../../lambda/tables/counter-cost.ts';
import { createCounters } from '../../../lambda/tables/counters.ts';
import { writeUnits } from '../../../lambda/tables/table.ts';
import { testRows } from '../../support/test-rows.ts';
import { createMemoryCaller } from './memory-caller.ts';

const midnight = Date.UTC(2026, 10, 22);

/** A counter with a name as long as there is, from yesterday. */
async function createWorld(burst: number) {
  const store = createMemoryCaller();
  const clock = { time: midnight - 1 };
  const counters = createCounters(store.callDynamoDb, 'quota', () => clock.time);
  const window = (): CounterWindow => ({
    ...{ item: `count_tokens#member#0x${'0'.repeat(40)}`, limit: 1_000_000, burst },
    ...{ minute: minuteOf(clock.time), ...dayOf(clock.time) },
  });
  const charge = async () => {
    const token = createToken();
    expect((await counters.charge(window(), token)).granted).toBe(true);
    return () => counters.refund(window(), token);
  };
  const chargeMany = async (count: number) => {
    for (let index = 0; index < count; index += 1) await charge();
  };
  await charge();
  clock.time = midnight;
  return { store, clock, charge, chargeMany };
}

const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);

describe('charges spread over minutes', () => {
  testRows([
    { rate: 20, units: 1 },
    { rate: mostBurst, units: 3 },
    { rate: 600, units: 11 },
  ])('cost one write each, of few units', async ({ rate, units }) => {
    const { store, clock, charge } = await createWorld(rate);
    store.units.length = 0;
    for (let count = 0; count < 3 * rate; count += 1) {
      await charge();
      clock.time = midnight + Math.floor(((count + 1) * 60_000) / rate);
    }
    expect(store.units).toHaveLength(3 * rate);
    expect(Math.max(...store.units)).toBe(units);
    expect(writeUnits(bytesAtRate(rate))).toBe(units);
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

describe('the highest burst limit', () => {
  test('is what one item serves in its worst second, and no higher', async () => {
    const { store, clock, charge, chargeMany } = await createWorld(mostBurst);
    for (let count = 0; count < mostBurst; count += 1) await (await charge())();
    clock.time = midnight + 119_500;
    store.units.length = 0;
    await chargeMany(mostBurst);
    clock.time = midnight + 120_000;
    await chargeMany(mostBurst);
    expect(store.units).toHaveLength(2 * mostBurst);
    expect(sum(store.units)).toBeLessThanOrEqual(unitsOfWorstSecond(mostBurst));
    expect(sum(store.units)).toBeGreaterThan(0.98 * unitsOfWorstSecond(mostBurst));
    expect(unitsOfWorstSecond(mostBurst)).toBeLessThanOrEqual(unitsPerSecond);
    expect(unitsOfWorstSecond(mostBurst + 1)).toBeGreaterThan(unitsPerSecond);
  });
});
