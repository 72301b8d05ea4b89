import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CounterWindow, createToken, markToken } from '../../../lambda/quota/counter-store.ts';
import { dayOf, minuteOf } from '../../../lambda/quota/policy.ts';
import { createCounters, createTallies } from '../../../lambda/tables/counters.ts';
import { createKeyStore } from '../../../lambda/tables/keys.ts';
import { createMemberStore } from '../../../lambda/tables/members.ts';
import { createScanCounters } from '../../../lambda/tables/scan-counters.ts';
import { createReadStop, createStopSwitch } from '../../../lambda/tables/stop-switch.ts';
import { itemSize } from '../../../lambda/tables/table.ts';
import { createTestCaller, startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type StoreProxy, startStoreProxy } from '../../support/store-proxy.ts';

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

interface Request {
  readonly Item?: Values;
  readonly ExpressionAttributeValues?: Values;
  readonly UpdateExpression?: string;
}
type Values = Readonly<Record<string, { readonly N?: string }>>;

const writes = 'ExpressionAttributeValues ConditionExpression ReturnValues ReturnValuesOnConditionCheckFailure';
const pages =
  'IndexName FilterExpression ProjectionExpression ExpressionAttributeValues ConsistentRead ExclusiveStartKey Limit Select';
const members: Readonly<Record<string, string>> = {
  GetItem: 'Key ConsistentRead ProjectionExpression',
  PutItem: `Item ${writes}`,
  UpdateItem: `Key UpdateExpression ${writes}`,
  DeleteItem: `Key ${writes}`,
  Query: `KeyConditionExpression ScanIndexForward ${pages}`,
  Scan: `Segment TotalSegments ${pages}`,
};

/** What DynamoDB minds and the emulator does not, which refuses everything else: expressions, types, keys, reserved words. */
function findFaults(name: string, request: Request): string[] {
  const known = `TableName ExpressionAttributeNames ${members[name]}`.split(' ');
  const expressions = Object.entries(request).filter(([member]) => member.endsWith('Expression'));
  const times = [request.Item?.ttl, request.ExpressionAttributeValues?.[':ttl']].filter((time) => time !== undefined);
  return [
    ...Object.keys(request).filter((member) => !known.includes(member)),
    ...expressions.filter(([, text]) => Buffer.byteLength(text) > 4096).map(([member]) => `${member}: too long`),
    ...expressions
      .filter(([, text]) => (text.match(/\b(AND|OR|NOT)\b|[<>=+-]|\w\(/g) ?? []).length > 300)
      .map(([member]) => `${member}: more than 300 operators`),
    ...times.filter(({ N }) => !/^\d{10}$/.test(`${N}`)).map(() => 'a ttl that is no time in seconds'),
  ];
}

/** The requests that an action sends. */
async function requestsOf(act: () => Promise<unknown>): Promise<{ name: string; request: Request }[]> {
  const before = proxy.operations.length;
  await act();
  return proxy.operations.slice(before).map(({ name, body }) => ({ name, request: JSON.parse(body) }));
}

async function expectStrict(act: () => Promise<unknown>, ...operations: string[]) {
  const requests = await requestsOf(act);
  expect(new Set(requests.map(({ name }) => name))).toEqual(new Set(operations));
  for (const { name, request } of requests) {
    expect({ request, faults: findFaults(name, request) }).toEqual({ request, faults: [] });
  }
  return requests;
}

describe('requests that a stricter store would take', () => {
  const clock = { time: Date.UTC(2026, 10, 21, 23, 58) };
  const counters = () => createCounters(createTestCaller(proxy.endpoint), 'quota', () => clock.time);
  let items = 0;
  const newItem = () => `member#${items++}`;
  const windowOf = (item: string, more: Partial<CounterWindow> = {}): CounterWindow => ({
    ...{ item, limit: 50, burst: 20, minute: minuteOf(clock.time), ...dayOf(clock.time) },
    ...more,
  });

  test('a charge, refused or not, of a day or a lifetime', async () => {
    const [item, token] = [newItem(), createToken()];
    const { period: _, expiresAt: __, ...lifetime } = windowOf(newItem());
    const requests = await expectStrict(async () => {
      for (const window of [
        windowOf(item),
        windowOf(item, { limit: 1 }),
        windowOf(newItem(), { limit: 0 }),
        lifetime,
      ]) {
        await counters().charge(window, token);
        await counters().charge(window, createToken());
      }
    }, 'UpdateItem');
    // One request each: the item comes with a refusal.
    expect(requests).toHaveLength(8);
    for (const { request } of requests) {
      expect(request).toMatchObject({ ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' });
    }
  });

  test('a charge whose answer is lost, and one that leaves its token', async () => {
    const full = windowOf(newItem(), { limit: 1 });
    proxy.spoil(({ attempt }) => (attempt === 1 ? 'answer lost' : undefined));
    const requests = await expectStrict(async () => {
      expect(await counters().charge(full, createToken())).toMatchObject({ granted: true, used: 1 });
      expect((await counters().charge(full, createToken())).granted).toBe(false);
    }, 'UpdateItem');
    proxy.spoil(() => undefined);
    expect(requests.filter(({ request }) => /^ADD w\d+ :tokens$/.test(request.UpdateExpression ?? ''))).not.toEqual([]);
  });

  test('a charge that drops what pauses have left', async () => {
    const item = newItem();
    const requests = await expectStrict(async () => {
      for (let charge = 0; charge < 40; charge += 1) {
        clock.time += 3_600_000;
        await counters().charge(windowOf(item), createToken());
      }
    }, 'UpdateItem');
    expect(requests.filter(({ request }) => request.UpdateExpression?.startsWith('REMOVE'))).toHaveLength(1);
  });

  test('a refund, a second one, and a read', async () => {
    const [window, token] = [windowOf(newItem()), createToken()];
    await expectStrict(
      async () => {
        await counters().charge(window, token);
        expect(await counters().refund(window, token)).toMatchObject({ used: 0 });
        expect(await counters().refund(window, createToken())).toBeUndefined();
        expect(await counters().read(window)).toMatchObject({ used: 0 });
      },
      'UpdateItem',
      'GetItem',
    );
  });

  test('a charge against a budget, its settlement, and a second one', async () => {
    const budget = { amount: 100, window: 'month', period: 'm682', resetAt: clock.time, reserve: 40 } as const;
    const window = windowOf(newItem(), { budget });
    const requests = await expectStrict(async () => {
      const charge = await counters().charge(window, createToken());
      if (!charge.granted || !charge.reservation) throw new Error('nothing is reserved');
      const { reservation } = charge;
      expect(await counters().settle(window, reservation, { spent: 0, refunded: true })).toMatchObject({ taken: 0 });
      expect(await counters().settle(window, reservation, { spent: 0 })).toBeUndefined();
    }, 'UpdateItem');
    expect(requests).toHaveLength(3);
  });

  test('for a caller without a budget nothing of one is sent', async () => {
    const window = windowOf(newItem());
    const requests = await requestsOf(() => counters().charge(window, createToken()));
    expect(requests.map(({ request }) => request.UpdateExpression)).toEqual([
      expect.stringMatching(/^ADD u\d+ :one, n\d+ :one, w\d+ :tokens SET #ttl = :ttl REMOVE ([nw]\d+, ){6}u\d+$/),
    ]);
  });

  test('the counts of the deployment', async () => {
    const tallies = createTallies(createTestCaller(proxy.endpoint), 'quota');
    await expectStrict(
      async () => {
        for (const most of [1, 1, 0]) await tallies.add('daily_limit#1#0', most, clock.time);
        for (let count = 0; count < 2; count += 1) await tallies.subtract('daily_limit#1#0');
        await tallies.read('daily_limit#1#0');
      },
      'UpdateItem',
      'GetItem',
    );
  });

  test('what operators read and change', async () => {
    const call = createTestCaller(proxy.endpoint);
    const keys = createKeyStore(call, 'keys');
    const record = { id: 'key_1', member: 'ada', label: 'a', createdAt: 1, limit: 5, expiresAt: 2_000_000_000_000 };
    await expectStrict(
      async () => {
        for await (const _ of createScanCounters(call, 'quota')(dayOf(clock.time).period, async () => {}));
        await keys.put('hash', record);
        await keys.link('net', { member: 'ada', linkedAt: 1, expiresAt: 2_000_000_000_000 });
        await keys.list({ pageSize: 1 });
        for (const is of ['live', 'expired', 'revoked'] as const) {
          await keys.list({ member: 'ada', label: 'a', state: { is, at: clock.time } });
        }
        await keys.change('key_1', { limit: undefined });
        await keys.change('key_1', { limit: 3, models: ['svc'] });
        await keys.change('key_1', { expiresAt: undefined, budget: 5 });
        await keys.revoke('key_1', clock.time);
        await keys.findKey('hash');
        await keys.anyKeyIssued();
        await createStopSwitch(call, 'keys').stop({ at: 'now', reason: 'why' });
        await createReadStop(call, 'keys')();
        await createStopSwitch(call, 'keys').resume();
      },
      'Scan',
      'PutItem',
      'Query',
      'UpdateItem',
      'GetItem',
      'DeleteItem',
    );
  });

  test('what a wallet’s sign-in keeps', async () => {
    const wallets = createMemberStore(createTestCaller(proxy.endpoint), 'keys');
    const challenge = { digest: 'd', purpose: 'p', expiresAt: 2_000_000_000_000 };
    const slot = { hash: 'hash', takenAt: 1 };
    await expectStrict(
      async () => {
        await wallets.putChallenge('nonce', challenge);
        await wallets.takeChallenge('nonce', challenge, clock.time, 'token');
        await wallets.putSession('session', { member: 'ada', expiresAt: 2_000_000_000_000 });
        await wallets.findSession('session');
        await wallets.takeSlot('ada', slot, 5);
        await wallets.readSlots('ada');
        await wallets.freeSlots('ada', [slot]);
        await wallets.revokeKey('hash', 'ada', clock.time);
      },
      'PutItem',
      'UpdateItem',
      'GetItem',
    );
  });

  test('an item at the highest burst limit of all, with every charge refunded', () => {
    const tokens = (count: number) => Array<string>(count).fill(createToken());
    const ofMinute = [...tokens(10_000), ...tokens(10_000).map((token) => markToken(token, 'r'))];
    const item = { pk: { S: 'm'.repeat(100) }, w29000000: { BS: ofMinute }, w29000001: { BS: ofMinute } };
    expect(itemSize(item)).toBeLessThan(400 * 1024 - 200);
  });
});
