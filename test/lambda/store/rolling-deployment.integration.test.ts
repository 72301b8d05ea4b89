import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CounterWindow } from '../../../lambda/quota/counters.ts';
import { minuteOf } from '../../../lambda/quota/policy.ts';
import { createToken } from '../../../lambda/quota/token.ts';
import { createCounters } from '../../../lambda/store/counters.ts';
import { itemSize } from '../../../lambda/store/item-size.ts';
import type { Item } from '../../../lambda/store/table.ts';
import { createYesterdaysCounters } from '../../exhaustive/yesterdays-counters.ts';
import { createTestCaller, startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { createRandom } from '../../support/random.ts';
import { type StoreProxy, startStoreProxy } from '../../support/store-proxy.ts';

/*
 * Yesterday's and today's code on the same items, as in a rolling deployment, with a store that loses requests and
 * answers. The test's seeds can be repeated; test/exhaustive runs every schedule of one request of each.
 */

let database: TestDynamoDb;
let proxy: StoreProxy;
beforeAll(async () => {
  database = await startTestDynamoDb();
  proxy = await startStoreProxy(database.endpoint);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await database.close();
});

const start = Date.UTC(2026, 10, 21, 12);

async function load(item: string): Promise<Item> {
  const input = { TableName: database.quotaTable, Key: { pk: { S: item } }, ConsistentRead: true };
  return (await database.callDynamoDb<{ readonly Item?: Item }>('GetItem', input)).Item ?? {};
}

function bothCodes(now: () => number) {
  const call = createTestCaller(proxy.endpoint);
  const today = createCounters(call, database.quotaTable, now);
  const yesterday = createYesterdaysCounters(call, database.quotaTable);
  const refund = (item: string, token: string) => yesterday.refund(item, minuteOf(now()), token);
  return [today, { ...yesterday, refund }];
}

test.each([1, 2, 3, 4])(
  'what both codes count together is exact, drawn by the seed %i',
  async (seed) => {
    const random = createRandom(seed);
    const clock = { time: start };
    const codes = bothCodes(() => clock.time);
    const faults = ['answer lost', 'request lost', 'throttled', 'failing'] as const;
    proxy.spoil(({ attempt }) => (attempt < 3 && random.once(5) ? random.pick(faults) : undefined));
    const [limit, burst] = [12, 8];
    const item = `rolling${seed}`;
    let used = 0;
    for (let wave = 0; wave < 12; wave += 1) {
      const minute = minuteOf(clock.time);
      const window: CounterWindow = { item, limit, burst, minute };
      const inMinute = Number((await load(item))[`n${minute.toString(36)}`]?.N ?? 0);
      const charges = Array.from({ length: 1 + random.below(10) }, async () => {
        const code = random.pick(codes);
        const token = createToken();
        const { granted } = await code.charge(window, token);
        return granted ? [{ code, token }] : [];
      });
      const granted = (await Promise.all(charges)).flat();
      const expected = Math.min(charges.length, limit - used, burst - inMinute);
      expect({ wave, granted: granted.length }).toEqual({ wave, granted: expected });
      used += granted.length;
      const failed = granted.filter(() => random.once(2));
      clock.time += random.pick([0, 1_000, 7_000, 60_000, 240_000]);
      await Promise.all(failed.map(({ code, token }) => code.refund(item, token)));
      used -= failed.length;
      expect(await codes[0]?.read(item)).toBe(used);
    }
  },
  60_000,
);

test('an item of before is charged and refunded rightly, and is as cheap as any soon', async () => {
  proxy.spoil(() => undefined);
  const clock = { time: start };
  const [today, yesterday] = bothCodes(() => clock.time);
  const window = () => ({ item: 'old', limit: 1_000, burst: 150, minute: minuteOf(clock.time) });
  const token = createToken();
  await yesterday?.charge(window(), token);
  for (let count = 1; count < 149; count += 1) await yesterday?.charge(window(), createToken());
  expect(itemSize(await load('old'))).toBeGreaterThan(1024);

  expect(await today?.charge(window(), createToken())).toEqual({ granted: true, used: 150 });
  expect(await today?.charge(window(), createToken())).toEqual({ granted: false, used: 150, reason: 'burst' });
  expect(await today?.refund('old', token)).toBe(149);
  clock.time += 180_000;
  expect(await today?.charge(window(), createToken())).toEqual({ granted: true, used: 150 });
  expect(itemSize(await load('old'))).toBeLessThan(200);
  // Rolled back, the code of before goes on from there.
  expect(await yesterday?.charge(window(), createToken())).toEqual({ granted: true, used: 151 });
});
