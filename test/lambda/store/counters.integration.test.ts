import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChargeResult, Counters, CounterWindow } from '../../../lambda/quota/counters.ts';
import { createToken } from '../../../lambda/quota/token.ts';
import { createCounters } from '../../../lambda/store/counters.ts';
import { itemSize } from '../../../lambda/store/item-size.ts';
import type { Item } from '../../../lambda/store/table.ts';
import { listenLocally } from '../../../local/listen-locally.ts';
import { createTestCaller, startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type LossyProxy, startLossyProxy } from '../../support/lossy-proxy.ts';
import fc from '../../support/properties.ts';
import { type StoppedTimers, stopTimers } from '../../support/stop-timers.ts';

let database: TestDynamoDb;
let counters: Counters;
let items = 0;

beforeAll(async () => {
  database = await startTestDynamoDb();
  counters = createCounters(database.callDynamoDb, database.quotaTable, now);
});
afterAll(() => database.close());

const firstMinute = 29_700_000;
/** The time of all environments that lack their own. It stands still unless a test moves it. */
const clock = { time: firstMinute * 60_000 };
const now = () => clock.time;
let timers: StoppedTimers;
beforeEach(() => {
  clock.time = firstMinute * 60_000;
  // A crowd in one process takes its own queue for the slowness of the store.
  timers = stopTimers();
});
afterEach(() => timers[Symbol.dispose]());

/** Lets seconds pass; the minute that then is. */
function pass(seconds: number): number {
  clock.time += seconds * 1000;
  return Math.floor(clock.time / 60_000);
}

/** A counter that no other test uses. */
function newWindow(more: Partial<CounterWindow> = {}): CounterWindow {
  items += 1;
  return { item: `item${items}`, limit: 50, burst: 20, minute: firstMinute, ...more };
}

/** In parallel, from this many environments in turn, or all from one. */
function chargeMany(window: CounterWindow, count: number, environments = [counters]): Promise<ChargeResult[]> {
  const charge = (index: number) =>
    environments[index % environments.length]?.charge(window, createToken()) ?? Promise.reject(new Error('nobody'));
  return Promise.all(Array.from({ length: count }, (_, index) => charge(index)));
}

function createEnvironments(count: number, callDynamoDb = database.callDynamoDb): Counters[] {
  return Array.from({ length: count }, () => createCounters(callDynamoDb, database.quotaTable, now));
}

const granted = (results: ChargeResult[]) => results.filter((result) => result.granted).length;
const refusals = (results: ChargeResult[]) => [
  ...new Set(results.map((result) => (result.granted ? 'granted' : result.reason))),
];

describe('a charge', () => {
  test('counts up and returns the number of charges', async () => {
    const window = newWindow();
    expect(await counters.read(window.item)).toBe(0);
    expect(await counters.charge(window, createToken())).toEqual({ granted: true, used: 1 });
    expect(await counters.charge(window, createToken())).toEqual({ granted: true, used: 2 });
    expect(await counters.read(window.item)).toBe(2);
  });

  test.each([
    { limit: 3, burst: 20, parallel: 100, before: 0, passing: 3 },
    { limit: 100, burst: 1000, parallel: 200, before: 50, passing: 50 },
    { limit: 50, burst: 20, parallel: 21, before: 0, passing: 20 },
    { limit: 50, burst: 20, parallel: 60, before: 12, passing: 8 },
    { limit: 20, burst: 20, parallel: 60, before: 0, passing: 20 },
  ])('of $parallel in parallel, $before before, limit $limit and burst $burst pass $passing', async (given) => {
    for (const environments of [1, 3, given.parallel]) {
      const window = newWindow(given);
      expect(granted(await chargeMany(window, given.before))).toBe(given.before);
      const charged = await chargeMany(window, given.parallel, createEnvironments(environments));
      expect(granted(charged)).toBe(given.passing);
      expect(await counters.read(window.item)).toBe(given.before + given.passing);
    }
  });

  test('is refused by the burst limit until the next minute begins, and not counted', async () => {
    const window = newWindow();
    await chargeMany(window, 20);
    expect(await counters.charge(window, createToken())).toEqual({ granted: false, reason: 'burst', used: 20 });
    const next = { ...window, minute: window.minute + 1 };
    expect(await counters.charge(next, createToken())).toEqual({ granted: true, used: 21 });
    expect(await counters.charge(window, createToken())).toMatchObject({ granted: false, reason: 'burst' });
  });

  test('is refused by the quota if both are spent', async () => {
    const window = newWindow({ limit: 20 });
    expect(refusals(await chargeMany(window, 40)).sort()).toEqual(['granted', 'quota']);
  });

  test('is refused under a limit of zero, or under one that was lowered', async () => {
    expect(await counters.charge(newWindow({ limit: 0 }), createToken())).toEqual({
      granted: false,
      reason: 'quota',
      used: 0,
    });
    const window = newWindow();
    await chargeMany(window, 5);
    const lowered = { ...window, limit: 2 };
    expect(await counters.charge(lowered, createToken())).toEqual({ granted: false, reason: 'quota', used: 5 });
    expect(await counters.charge(window, createToken())).toEqual({ granted: true, used: 6 });
  });

  test('of an environment whose clock is behind counts in its own minute', async () => {
    const [window, ahead] = [newWindow({ burst: 3 }), { minute: firstMinute + 1 }];
    await chargeMany(window, 2);
    expect(granted(await chargeMany({ ...window, ...ahead }, 4))).toBe(3);
    expect(granted(await chargeMany(window, 2))).toBe(1);
    expect(granted(await chargeMany({ ...window, ...ahead }, 1))).toBe(0);
    expect(await counters.read(window.item)).toBe(6);
  });

  test('sets the time after which the item may be deleted', async () => {
    const window = newWindow({ expiresAt: 1_700_000_000_001 });
    await counters.charge(window, createToken());
    expect((await load(window.item)).ttl).toEqual({ N: '1700000001' });
    const kept = newWindow();
    await counters.charge(kept, createToken());
    expect(await load(kept.item)).not.toHaveProperty('ttl');
  });
});

describe('a refund', () => {
  test('takes one charge back and gives no burst back', async () => {
    const window = newWindow({ burst: 2 });
    const token = createToken();
    await counters.charge(window, token);
    await counters.charge(window, createToken());
    expect(await counters.refund(window.item, token)).toBe(1);
    expect(await counters.charge(window, createToken())).toEqual({ granted: false, reason: 'burst', used: 1 });
  });

  test('makes room in a spent quota', async () => {
    const window = newWindow({ limit: 1 });
    const token = createToken();
    await counters.charge(window, token);
    expect(await counters.refund(window.item, token)).toBe(0);
    expect(granted(await chargeMany({ ...window, minute: window.minute + 14 }, 5))).toBe(1);
  });

  test('that is repeated in parallel counts once', async () => {
    const window = newWindow();
    const token = createToken();
    await counters.charge(window, token);
    await chargeMany(window, 4);
    const results = Array.from({ length: 10 }, () => counters.refund(window.item, token));
    expect(await Promise.all(results)).toEqual(Array(10).fill(4));
    expect(await counters.read(window.item)).toBe(4);
  });

  test('of a counter that is gone undoes nothing', async () => {
    const { item } = newWindow();
    expect(await counters.refund(item, createToken())).toBeUndefined();
    expect(await counters.read(item)).toBe(0);
  });
});

describe('over a network that loses answers', () => {
  let proxy: LossyProxy;
  let remote: Counters;

  beforeAll(async () => {
    proxy = await startLossyProxy(database.endpoint);
    remote = createCounters(createTestCaller(proxy.endpoint), database.quotaTable, now);
  });
  afterAll(() => proxy.close());

  test.each([1, 2])('a charge that is repeated after %i lost answers counts once', async (lost) => {
    const window = newWindow();
    await remote.charge(window, createToken());
    proxy.loseAnswers(lost);
    expect(await remote.charge(window, createToken())).toEqual({ granted: true, used: 2 });
    expect(await counters.read(window.item)).toBe(2);
  });

  test('the last charge is granted though its repeat finds the limits spent', async () => {
    const window = newWindow({ limit: 1, burst: 1 });
    proxy.loseAnswers(1);
    expect(await remote.charge(window, createToken())).toEqual({ granted: true, used: 1 });
  });

  test('a refund that is repeated counts once', async () => {
    const window = newWindow();
    const token = createToken();
    await remote.charge(window, token);
    await remote.charge(window, createToken());
    proxy.loseAnswers(2);
    expect(await remote.refund(window.item, token)).toBe(1);
    expect(await counters.read(window.item)).toBe(1);
  });

  test('a refund a quarter of an hour later counts once, whoever has charged since', async () => {
    const window = newWindow({ limit: 1000 });
    const token = createToken();
    await remote.charge(window, token);
    for (let minutes = 0; minutes < 15; minutes += 1) {
      await remote.charge({ ...window, minute: pass(60) }, createToken());
      if (minutes % 2 === 0) await remote.refund(window.item, createToken());
    }
    const before = await counters.read(window.item);
    proxy.loseAnswers(2);
    expect(await remote.refund(window.item, token)).toBe(before - 1);
    expect(await counters.read(window.item)).toBe(before - 1);
    expect(await remote.charge({ ...window, minute: pass(0) }, createToken())).toMatchObject({ used: before });
  });

  test('exactly the limit passes in parallel', async () => {
    const caller = createTestCaller(proxy.endpoint);
    for (const [environments, lost] of [
      [60, 30],
      [4, 2],
      [1, 2],
    ] as const) {
      const window = newWindow({ limit: 40, burst: 600 });
      proxy.loseAnswers(lost);
      expect(granted(await chargeMany(window, 60, createEnvironments(environments, caller)))).toBe(40);
      expect(await counters.read(window.item)).toBe(40);
    }
  });

  test('an answer lost for good leaves at most one charge standing', async () => {
    const window = newWindow();
    proxy.loseAnswers(Number.POSITIVE_INFINITY);
    await expect(remote.charge(window, createToken())).rejects.toMatchObject({ code: 'service_unavailable' });
    proxy.loseAnswers(0);
    expect(await counters.read(window.item)).toBe(1);
  });

  test('64 in parallel, again and again, cost a quarter of the writes at most', async () => {
    const window = newWindow({ limit: 10_000, burst: 10_000 });
    proxy.operations.length = 0;
    const charge = async () => {
      for (let count = 0; count < 8; count += 1) await remote.charge(window, createToken());
    };
    await Promise.all(Array.from({ length: 64 }, charge));
    expect(await counters.read(window.item)).toBe(512);
    expect(proxy.operations.length).toBeLessThanOrEqual(128);
  });

  test('charges that were written together are refunded separately', async () => {
    const window = newWindow();
    const tokens = Array.from({ length: 10 }, createToken);
    expect(granted(await Promise.all(tokens.map((token) => remote.charge(window, token))))).toBe(10);
    const refunds = await Promise.all(tokens.slice(3).map((token) => remote.refund(window.item, token)));
    expect(refunds.toSorted()).toEqual([3, 4, 5, 6, 7, 8, 9]);
    expect(await counters.read(window.item)).toBe(3);
  });

  test('an answer lost for good to many leaves at most one charge standing for each', async () => {
    const window = newWindow();
    const alone = remote.charge(window, createToken());
    proxy.loseAnswers(Number.POSITIVE_INFINITY);
    const charges = [alone, ...Array.from({ length: 5 }, () => remote.charge(window, createToken()))];
    const outcomes = await Promise.allSettled(charges);
    proxy.loseAnswers(0);
    const inDoubt = { status: 'rejected', reason: { code: 'service_unavailable', reason: 'answer_lost' } };
    expect(outcomes).toMatchObject(Array(6).fill(inDoubt));
    expect(await counters.read(window.item)).toBe(6);
  });

  test('a charge is one write, whatever came before it', async () => {
    const window = newWindow();
    proxy.operations.length = 0;
    for (const minutes of [0, 0, 1, 3, 18, 60]) {
      await remote.charge({ ...window, minute: pass(minutes * 60) }, createToken());
    }
    expect(proxy.operations).toEqual(Array(6).fill('UpdateItem'));
  });

  test('a counter in occasional use is tidied up occasionally', async () => {
    const window = newWindow({ limit: 1000 });
    proxy.operations.length = 0;
    for (let charge = 0; charge < 40; charge += 1) {
      await remote.charge({ ...window, minute: pass(3600) }, createToken());
      expect(itemSize(await load(window.item))).toBeLessThan(1024);
    }
    expect(proxy.operations.length).toBe(41);
  });
});

test('a pause between bursts leaves nothing behind for long', async () => {
  const window = newWindow({ limit: 1000, burst: 100 });
  for (let burst = 0; burst < 4; burst += 1) await chargeMany({ ...window, minute: pass(300) }, 80);
  await counters.charge({ ...window, minute: pass(300) }, createToken());
  expect(itemSize(await load(window.item))).toBeLessThan(1024);
});

test.each([
  ['20', 'burst'],
  // The limit itself has room again: a refund has come in between.
  ['19', 'quota'],
])('a store that returns the item with the refusal gets no read: %s are %s', async (inMinute, reason) => {
  const item = { pk: { S: 'item' }, used: { N: '7' }, [`n${firstMinute.toString(36)}`]: { N: inMinute } };
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    const refusal = { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException', Item: item };
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(refusal));
  });
  const { url, close } = await listenLocally(server);
  const callDynamoDb = createTestCaller(url);
  try {
    const charge = createCounters(callDynamoDb, 'quota', now).charge(newWindow({ burst: 20 }), createToken());
    expect(await charge).toEqual({ granted: false, reason, used: 7 });
  } finally {
    await close();
  }
  expect(asked).toBe(1);
});

describe('the size of an item', () => {
  test('stays under 1 KB at the default limits, even if everything is refunded', async () => {
    const window = newWindow({ item: `member#${'m'.repeat(42)}#2026-11-21`, expiresAt: 1_800_000_000_000 });
    for (let round = 0; round < 5; round += 1) {
      const minute = pass(60);
      const refunds = Array.from({ length: 20 }, async () => {
        const token = createToken();
        await counters.charge({ ...window, minute }, token);
        return counters.refund(window.item, token);
      });
      expect(await Promise.all(refunds)).not.toContain(undefined);
      expect(itemSize(await load(window.item))).toBeLessThan(1024);
    }
  });
});

test('charges and refunds over many minutes agree with a small model', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ kind: 'charge' as const }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), which: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 1, 2, 20) }) },
  );
  const limits = fc.record({ limit: fc.integer({ min: 0, max: 8 }), burst: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async ({ limit, burst }, steps) => {
      const window = newWindow({ limit, burst, minute: pass(60) });
      const standing: string[] = [];
      let { minute } = window;
      let inMinute = 0;
      for (const next of steps) {
        if (next.kind === 'wait') {
          minute = pass(next.minutes * 60);
          inMinute = 0;
        } else if (next.kind === 'charge') {
          const token = createToken();
          const result = await counters.charge({ ...window, minute }, token);
          if (standing.length < limit && inMinute < burst) {
            inMinute += 1;
            standing.push(token);
            expect(result).toEqual({ granted: true, used: standing.length });
          } else {
            const reason = standing.length >= limit ? 'quota' : 'burst';
            expect(result).toEqual({ granted: false, reason, used: standing.length });
          }
        } else {
          const [token] = standing.splice(next.which % Math.max(1, standing.length), 1);
          if (token !== undefined) expect(await counters.refund(window.item, token)).toBe(standing.length);
        }
      }
      expect(await counters.read(window.item)).toBe(standing.length);
    }),
    { numRuns: 60 },
  );
});

async function load(item: string): Promise<Item> {
  const input = { TableName: database.quotaTable, Key: { pk: { S: item } }, ConsistentRead: true };
  return (await database.callDynamoDb<{ readonly Item?: Item }>('GetItem', input)).Item ?? {};
}
