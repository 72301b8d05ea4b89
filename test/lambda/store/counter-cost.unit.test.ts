import { describe, expect, test } from '@jest/globals';
import type { ChargeResult, CounterWindow } from '../../../lambda/quota/counters.ts';
import { minuteOf } from '../../../lambda/quota/policy.ts';
import { createToken } from '../../../lambda/quota/token.ts';
import { bytesAtRate, mostBurst, unitsOfBurst, unitsPerSecond } from '../../../lambda/store/counter-cost.ts';
import { createCounters } from '../../../lambda/store/counters.ts';
import { writeUnits } from '../../../lambda/store/item-size.ts';
import { createMemoryCaller } from '../../exhaustive/memory-caller.ts';

const start = Date.UTC(2026, 10, 21, 12);
/** With a name as long as there is. */
const limits = { item: `count_tokens#member#0x${'0'.repeat(40)}`, limit: 1_000_000, expiresAt: start + 86_400_000 };

/** Environments whose clocks are off by this many milliseconds, charging in turn. */
function createWorld(burst: number, ...skews: number[]) {
  const store = createMemoryCaller();
  const clock = { time: start };
  const environments = (skews.length > 0 ? skews : [0]).map((skew) => {
    const now = () => clock.time + skew;
    const counters = createCounters(store.callDynamoDb, 'quota', now);
    const window = (): CounterWindow => ({ ...limits, burst, minute: minuteOf(now()) });
    return { charge: () => counters.charge(window(), createToken()) };
  });
  let turn = 0;
  const charge = () => environments[turn++ % environments.length]?.charge() ?? Promise.reject(new Error('nobody'));
  const chargeMany = async (count: number): Promise<ChargeResult[]> => {
    const results: ChargeResult[] = [];
    for (let index = 0; index < count; index += 1) results.push(await charge());
    return results;
  };
  return { store, clock, charge, chargeMany };
}

describe('charges spread over a minute', () => {
  test.each([
    { rate: 20, units: 1 },
    { rate: 1_000, units: 1 },
    { rate: 6_000, units: 4 },
  ])('cost one write each, of $units units at most, at $rate a minute', async ({ rate, units }) => {
    const { store, clock, charge } = createWorld(rate + 1);
    // Twenty seconds of the heaviest traffic: long enough for the item to reach its full size.
    const charges = Math.min(rate, 2_000);
    for (let count = 0; count < charges; count += 1) {
      expect((await charge()).granted).toBe(true);
      clock.time += 60_000 / rate;
    }
    expect(store.units).toHaveLength(charges);
    expect(Math.max(...store.units)).toBe(units);
    expect(writeUnits(bytesAtRate(rate))).toBe(units);
  });

  test('cost the same if clocks differ by three seconds', async () => {
    const { store, clock, charge } = createWorld(1_001, 0, 3_000, -500, 2_500);
    for (let count = 0; count < 2_000; count += 1) {
      expect((await charge()).granted).toBe(true);
      clock.time += 60;
    }
    expect(store.units).toEqual(Array(2_000).fill(1));
  });

  test('cost two writes each if a clock is further behind', async () => {
    const { store, clock, charge } = createWorld(1_001, 0, -20_000);
    for (let count = 0; count < 100; count += 1) {
      expect((await charge()).granted).toBe(true);
      clock.time += 60;
    }
    expect(store.units.length).toBeGreaterThan(140);
    expect(store.units.length).toBeLessThan(152);
  });
});

describe('a burst', () => {
  test('has the computed cost', async () => {
    const { store, chargeMany } = createWorld(1_000);
    await chargeMany(600);
    const spent = store.units.reduce((sum, one) => sum + one, 0);
    expect(spent).toBeLessThanOrEqual(unitsOfBurst(600));
    expect(spent).toBeGreaterThan(0.95 * unitsOfBurst(600));
  });

  test('costs its own tokens for ten seconds at most', async () => {
    const { store, clock, charge, chargeMany } = createWorld(1_000);
    await chargeMany(600);
    expect(store.units.at(-1)).toBe(4);
    for (let seconds = 0; seconds < 10; seconds += 1) {
      clock.time += 1_000;
      await charge();
    }
    clock.time += 1_000;
    await charge();
    expect(store.units.at(-1)).toBe(1);
  });

  test('and the next of the largest size are served within a second at the end of a minute', async () => {
    const { store, clock, chargeMany } = createWorld(mostBurst);
    clock.time += 59_500;
    const first = await chargeMany(mostBurst);
    clock.time += 500;
    const second = await chargeMany(mostBurst);
    expect([...first, ...second].filter(({ granted }) => granted)).toHaveLength(2 * mostBurst);
    expect(store.units.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(unitsPerSecond);
    expect(unitsOfBurst(2 * (mostBurst + 1))).toBeGreaterThan(unitsPerSecond);
  });
});
