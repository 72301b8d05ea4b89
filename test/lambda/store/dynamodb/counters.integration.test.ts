import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CallService } from '../../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../../lambda/aws/repeat.ts';
import { dayOf } from '../../../../lambda/budget/time.ts';
import {
  type ChargeResult,
  type Counters,
  type CounterWindow,
  createToken,
  type OpenReservation,
} from '../../../../lambda/store/counters.ts';
import { createCounters } from '../../../../lambda/store/dynamodb/counters.ts';
import { createGlobalCounters } from '../../../../lambda/store/dynamodb/global-counters.ts';
import { type Item, itemSize, type Update } from '../../../../lambda/store/dynamodb/table.ts';
import { outage } from '../../../../lambda/store/errors.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../../support/dynamodb.ts';
import { type StoppedTimers, stopTimers } from '../../../support/stop-timers.ts';
import { testRows } from '../../../support/test-rows.ts';

let database: TestDynamoDb;
let counters: Counters;
let items = 0;

beforeAll(async () => {
  database = await startTestDynamoDb();
  counters = createCounters(database.callDynamoDb, database.quotaTable, now);
});
afterAll(() => database.close());

const details = { Item: { pk: { S: 'item' }, u20625: { N: '1' } } };
const firstMinute = 29_700_000;
const today = Math.floor(firstMinute / 1_440);
/** The clock of all processes without one of their own. It stands still unless a test moves it. */
const clock = { time: firstMinute * 60_000 };
const now = () => clock.time;
let timers: StoppedTimers;
beforeEach(() => {
  clock.time = firstMinute * 60_000;
  // A crowd in one process would mistake its own backlog for a slow store.
  timers = stopTimers();
});
afterEach(() => timers[Symbol.dispose]());

/** Advances the clock by seconds, and returns the minute. */
function pass(seconds: number): number {
  clock.time += seconds * 1000;
  return Math.floor(clock.time / 60_000);
}

/** A counter that no other test uses. */
function newWindow(more: Partial<CounterWindow> = {}): CounterWindow {
  items += 1;
  return { item: `item${items}`, period: today, limit: 50, burst: 20, minute: firstMinute, ...more };
}

/** In parallel, from this many processes in turn, or all from one. */
function chargeMany(window: CounterWindow, count: number, environments = [counters]): Promise<ChargeResult[]> {
  const charge = (index: number) =>
    environments[index % environments.length]?.charge(window, createToken()) ?? Promise.reject(new Error('nobody'));
  return Promise.all(Array.from({ length: count }, (_, index) => charge(index)));
}

const granted = (results: ChargeResult[]) => results.filter((result) => result.granted).length;

describe('a charge', () => {
  test('of many from twenty processes at once, exactly as many pass as the limits allow', async () => {
    const window = newWindow({ burst: 20 });
    const processes = Array.from({ length: 20 }, () => createCounters(database.callDynamoDb, database.quotaTable, now));
    expect(granted(await chargeMany(window, 12))).toBe(12);
    expect(granted(await chargeMany(window, 40, processes))).toBe(8);
    expect((await counters.read(window)).used).toBe(20);
  });

  test('from a process whose clock is behind counts in its own minute', async () => {
    const [window, ahead] = [newWindow({ burst: 3 }), { minute: firstMinute + 1 }];
    await chargeMany(window, 2);
    expect(granted(await chargeMany({ ...window, ...ahead }, 4))).toBe(3);
    expect(granted(await chargeMany(window, 2))).toBe(1);
    expect(granted(await chargeMany({ ...window, ...ahead }, 1))).toBe(0);
    expect((await counters.read(window)).used).toBe(6);
  });
});

test('the charge of a caller without a budget is one write, without any budget attributes', async () => {
  const sent: Update[] = [];
  const call: CallService = (operation, input) => {
    sent.push(input as Update);
    return database.callDynamoDb(operation, input);
  };
  const watched = createCounters(call, 'quota', now);
  await watched.charge(newWindow({ expiresAt: 1_800_000_000_000 }), createToken());
  expect(sent.map(({ UpdateExpression }) => UpdateExpression)).toEqual([
    expect.stringMatching(/^ADD u\d+ :one, n\d+ :one, w\d+ :tokens SET #ttl = :ttl REMOVE ([nw]\d+, ){6}u\d+$/),
  ]);
});

test('a refund a quarter of an hour later counts once, despite charges since', async () => {
  const window = newWindow({ limit: 1000 });
  const token = createToken();
  await counters.charge(window, token);
  for (let minutes = 0; minutes < 15; minutes += 1) {
    await counters.charge({ ...window, minute: pass(60) }, createToken());
    if (minutes % 2 === 0) await counters.refund(window, createToken());
  }
  const { used: before } = await counters.read(window);
  for (let repeat = 0; repeat < 2; repeat += 1) {
    expect(await counters.refund(window, token)).toMatchObject({ used: before - 1 });
  }
  expect(await counters.charge({ ...window, minute: pass(0) }, createToken())).toMatchObject({ used: before });
});

test('a rarely used counter stays small, at the cost of an occasional extra write', async () => {
  const operations: string[] = [];
  const watched = createCounters(
    (operation, ...input) => {
      operations.push(operation);
      return database.callDynamoDb(operation, ...input);
    },
    database.quotaTable,
    now,
  );
  const window = newWindow({ limit: 1000 });
  for (let charge = 0; charge < 80; charge += 1) {
    await watched.charge({ ...window, period: today + charge, minute: pass(86_400) }, createToken());
    expect(itemSize(await load(window.item))).toBeLessThanOrEqual(1024);
  }
  expect(operations).toEqual(Array(82).fill('UpdateItem'));
});

test('only the current and the previous window of each kind are kept', async () => {
  const window = newWindow({ expiresAt: 1_799_999_999_001 });
  for (let day = 0; day < 5; day += 1) {
    for (let minute = 0; minute < 3; minute += 1) {
      await counters.charge({ ...window, period: today + day, minute: pass(60) }, createToken());
    }
  }
  const last = pass(0);
  const names = [
    `u${today + 3}`,
    `u${today + 4}`,
    ...[last - 1, last].flatMap((minute) => [`n${minute}`, `w${minute}`]),
  ];
  const stored = await load(window.item);
  expect(Object.keys(stored).sort()).toEqual(['pk', 'ttl', ...names].sort());
  expect(stored.ttl).toEqual({ N: '1800000000' });
});

test('a lifetime count is kept along with daily counts, and so is its item', async () => {
  const { period: _, ...window } = newWindow();
  const ofDay = { ...window, period: today, expiresAt: 1_800_000_000_000 };
  await counters.charge(ofDay, createToken());
  await counters.charge(window, createToken());
  expect(await load(window.item)).not.toHaveProperty('ttl');
  await counters.charge({ ...ofDay, period: today + 3 }, createToken());
  expect([(await counters.read(window)).used, (await counters.read(ofDay)).used]).toEqual([1, 1]);
});

test('a process that was frozen before it left its token reports the charge as lost', async () => {
  const refusal = Object.assign(new ServiceError('ConditionalCheckFailedException', 'full', { status: 400, details }), {
    inDoubt: true,
  });
  let asked = 0;
  const call = async () => {
    asked += 1;
    pass(121);
    throw refusal;
  };
  const charge = createCounters(call, 'quota', now).charge(newWindow({ limit: 1 }), createToken());
  await expect(charge).rejects.toMatchObject({ code: 'service_unavailable', reason: 'answer_lost' });
  expect(asked).toBe(1);
});

test('an outage while it leaves its token is reported with its own cause', async () => {
  const inDoubt = { inDoubt: true };
  const refused = new ServiceError('ConditionalCheckFailedException', 'full', { status: 400, details });
  const slow = outage(new ServiceError('TooSlow', 'the store is too slow'), true);
  let asked = 0;
  const call = async () => {
    asked += 1;
    throw asked === 1 ? Object.assign(refused, inDoubt) : slow;
  };
  const charge = createCounters(call, 'quota', now).charge(newWindow({ limit: 1 }), createToken());
  await expect(charge).rejects.toMatchObject({ reason: 'answer_lost', cause: { name: 'TooSlow' } });
});

describe('a store that returns no item with a failed condition', () => {
  /** Loses the first response to each write, if told to. */
  const createBare = (loses: boolean) => {
    const call: CallService = async (operation, input) => {
      if (loses && operation === 'UpdateItem') await database.callDynamoDb(operation, input).catch(() => {});
      return database.callDynamoDb<never>(operation, input).catch(({ name }) => {
        throw new ServiceError(name, 'bare', { status: 400, inDoubt: loses });
      });
    };
    return createCounters(call, database.quotaTable, now);
  };

  test('is asked for it, so that the refusal has a reason and a snapshot', async () => {
    const window = newWindow({ burst: 2 });
    await chargeMany(window, 2);
    const charge = createBare(false).charge(window, createToken());
    expect(await charge).toMatchObject({ granted: false, reason: 'burst', used: 2, inMinute: 2 });
  });

  test('still detects writes whose response was lost', async () => {
    const bare = createBare(true);
    const window = newWindow({ limit: 1, budget: budgetOfDay() });
    const charged = await bare.charge(window, createToken());
    expect(charged).toMatchObject({ granted: true, used: 1, taken: 40 });
    const { reservation } = charged as { reservation: OpenReservation };
    expect(await bare.settle(window, reservation, { spent: 7 })).toMatchObject({ used: 1, taken: 7, open: [] });
  });

  test('reports a charge as lost if its tokens have been removed by then', async () => {
    let asked = 0;
    const call: CallService = async <T extends object>(operation: string) => {
      asked += 1;
      if (operation === 'GetItem') return { Item: details.Item } as object as T;
      throw new ServiceError('ConditionalCheckFailedException', 'full', { status: 400, inDoubt: true });
    };
    const charge = createCounters(call, 'quota', now).charge(newWindow({ limit: 1 }), createToken());
    await expect(charge).rejects.toMatchObject({ code: 'service_unavailable', reason: 'answer_lost' });
    expect(asked).toBe(4);
  });
});

testRows([
  [7, 20, 60, 'burst'],
  // The limit itself has room again: a refund has come in between.
  [7, 19, 60, 'quota'],
  [7, 20, 61, 'budget'],
  [50, 20, 61, 'quota'],
])('the item that comes with a refusal shows the reason', async (used, inMinute, taken, reason) => {
  const counts = { [`u${today}`]: used, [`n${firstMinute}`]: inMinute, [`bd${today}`]: taken };
  const found = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, { N: String(count) }]));
  const refuse = () =>
    Promise.reject(new ServiceError('ConditionalCheckFailedException', '', { status: 400, details: { Item: found } }));
  const window = newWindow({ burst: 20, budget: budgetOfDay() });
  const charge = createCounters(refuse, 'quota', now).charge(window, createToken());
  expect(await charge).toMatchObject({ granted: false, reason, used });
});

async function load(item: string): Promise<Item> {
  const input = { TableName: database.quotaTable, Key: { pk: { S: item } }, ConsistentRead: true };
  return (await database.callDynamoDb<{ readonly Item?: Item }>('GetItem', input)).Item ?? {};
}

const budgetOfDay = (more: object = {}) => ({
  ...({ amount: 100, window: 'day', period: `d${today}`, resetAt: (today + 1) * 86_400_000, reserve: 40 } as const),
  ...more,
});

test('a budget drops old periods, along with unsettled reservations', async () => {
  const window = newWindow({ budget: budgetOfDay({ amount: 10_000, reserve: 1 }), burst: 100, limit: 100 });
  await chargeMany(window, 30);
  const minute = pass(3 * 86_400);
  const later = {
    ...window,
    period: today + 3,
    minute,
    budget: budgetOfDay({ period: `d${today + 3}`, reserve: 2 }),
  };
  await counters.charge(later, createToken());
  expect(await counters.read(window)).toMatchObject({ used: 0, taken: 0 });
  expect(await counters.read(later)).toMatchObject({ used: 1, taken: 2, open: [{ amount: 2 }] });
});

test('the deployment’s counts of a day expire with it', async () => {
  const day = dayOf(clock.time);
  await createGlobalCounters(database.callDynamoDb, database.quotaTable).add(day, { requests: 1 });
  expect((await load(`deployment#${day.period}`)).ttl).toEqual({ N: String(day.expiresAt / 1000) });
});
