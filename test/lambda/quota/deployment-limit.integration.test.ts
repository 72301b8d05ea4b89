import { afterAll, describe, expect, test } from '@jest/globals';
import type { GatewayError } from '../../../lambda/errors.ts';
import type { Identity } from '../../../lambda/identity/identify.ts';
import {
  createDeploymentLimit,
  createSpendLimit,
  type DeploymentLimit,
} from '../../../lambda/quota/deployment-limit.ts';
import type { Charge } from '../../../lambda/quota/quota.ts';
import { createTallies } from '../../../lambda/tables/counters.ts';
import { createTestCaller, startTestDynamoDb } from '../../support/dynamodb.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { type StoreFault, type StoreOperation, startStoreProxy } from '../../support/store-proxy.ts';
import { testRows } from '../../support/test-rows.ts';

const database = await startTestDynamoDb();
const proxy = await startStoreProxy(database.endpoint);
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await database.close();
});

const member: Identity = { kind: 'member', member: 'ada' };
const guest: Identity = { kind: 'guest', networkId: 'net' };
const charge: Charge = {
  figures: { limit: 50, remaining: 49 },
  refund: async () => ({ limit: 50, remaining: 50 }),
  settle: async () => undefined,
};

let days = 0;

/** Noon of a day that no other test counts on. */
function newDay(): { time: number } {
  days += 1;
  return { time: Date.UTC(2026, 0, days, 12) };
}

interface Given {
  readonly dailyLimit?: number;
  readonly guestDailyLimit?: number;
  readonly clock?: { time: number };
}

/** The limit as one process has it: another one shares nothing with it but the table. */
function startProcess({ dailyLimit, guestDailyLimit, clock = newDay() }: Given) {
  const lost: string[] = [];
  const limit = createDeploymentLimit({
    ...{ dailyLimit, guestDailyLimit },
    tallies: createTallies(createTestCaller(proxy.endpoint), database.quotaTable),
    now: () => clock.time,
    onLost: (_, name) => lost.push(name),
  });
  if (!limit) throw new Error('no limit is set');
  return { limit, lost, count: (identity: Identity) => limit.count(identity, charge) };
}

/** The operations of the store meanwhile. */
async function operationsOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = proxy.operations.length;
  await act();
  const counts: Record<string, number> = {};
  for (const { name } of proxy.operations.slice(before)) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

async function inParallel(times: number, count: (index: number) => ReturnType<DeploymentLimit['count']>) {
  // A crowd in one process takes its own queue for the slowness of the store.
  using _timers = stopTimers();
  const outcomes = await Promise.allSettled(Array.from({ length: times }, (_, index) => count(index)));
  const granted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.charge] : []));
  const refusals: GatewayError[] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []));
  return { granted, refusals };
}

async function spoilt<T>(decide: (operation: StoreOperation) => StoreFault | undefined, act: () => Promise<T>) {
  proxy.spoil(decide);
  try {
    return await act();
  } finally {
    proxy.spoil(() => undefined);
  }
}

describe('a limit of the deployment', () => {
  testRows([3, 20])('lets exactly as many pass, with any number of processes at once', async (limit) => {
    const clock = newDay();
    const start = () => startProcess({ dailyLimit: limit, clock });
    const processes = [start(), start()] as const;
    const { granted, refusals } = await inParallel(limit + 10, (index) =>
      (processes[index % 2] ?? processes[0]).count(member),
    );
    expect([granted.length, refusals.length]).toEqual([limit, 10]);
  });

  test('restarts at midnight UTC, and a later refund counts for the day of its charge', async () => {
    const clock = newDay();
    days += 1;
    const { count } = startProcess({ dailyLimit: 2, clock });
    const { granted } = await inParallel(5, () => count(member));
    clock.time += 43_200_000;
    await granted[0]?.refund();
    expect((await inParallel(5, () => count(member))).granted).toHaveLength(2);
    clock.time -= 43_200_000; // an environment whose clock is behind
    expect((await inParallel(5, () => count(member))).granted).toHaveLength(1);
  });
});

describe('limits of guests', () => {
  test('apply to guests only, whose requests also count towards the limit of all', async () => {
    const { count } = startProcess({ dailyLimit: 20, guestDailyLimit: 10 });
    const guests = await inParallel(15, () => count(guest));
    expect(guests.granted).toHaveLength(10);
    expect(new Set(guests.refusals.map(({ reason }) => reason))).toEqual(new Set(['guest_daily_limit']));
    expect(guests.refusals[0]?.message).toMatch(/of guests as it may .* Before that, use an issued key\.$/);
    expect((await inParallel(15, () => count(member))).granted).toHaveLength(10);
  });

  test('are a fifth of the limit of all if only that is set, and at least one', async () => {
    const [some, few] = [startProcess({ dailyLimit: 11 }), startProcess({ dailyLimit: 2 })];
    expect((await inParallel(5, () => some.count(guest))).granted).toHaveLength(3);
    expect((await inParallel(5, () => few.count(guest))).granted).toHaveLength(1);
  });

  test('alone let members pass without a write', async () => {
    const { count } = startProcess({ guestDailyLimit: 1 });
    expect((await inParallel(3, () => count(guest))).granted).toHaveLength(1);
    expect(await operationsOf(() => count(member))).toEqual({});
  });

  test('get their count back if the limit of all refuses them, or is refunded', async () => {
    const clock = newDay();
    const { count } = startProcess({ dailyLimit: 8, guestDailyLimit: 4, clock });
    const members = await inParallel(8, () => count(member));
    const { refusals } = await inParallel(4, () => count(guest));
    expect(refusals.map(({ reason }) => reason)).toEqual(Array(4).fill('daily_limit'));
    await Promise.all(members.granted.map(({ refund }) => refund()));
    const guests = await inParallel(6, () => count(guest));
    expect(guests.granted).toHaveLength(4);
    await Promise.all(guests.granted.map(({ refund }) => refund()));
    expect((await inParallel(6, () => count(guest))).granted).toHaveLength(4);
    expect((await inParallel(6, () => count(member))).granted).toHaveLength(4);
  });
});

describe('the cost', () => {
  test('one write a request, two for a guest, and as many for a refund', async () => {
    const { count } = startProcess({ dailyLimit: 1000 });
    expect(await operationsOf(() => count(member))).toEqual({ UpdateItem: 1 });
    expect(await operationsOf(() => count(guest))).toEqual({ UpdateItem: 2 });
    const counted = await count(guest);
    expect(await operationsOf(counted.charge.refund)).toEqual({ UpdateItem: 2 });
    expect(await operationsOf(counted.charge.refund)).toEqual({});
  });

  test('a refusal once the limit is spent: one write, and reads of the other parts', async () => {
    const { count } = startProcess({ dailyLimit: 9 });
    expect((await inParallel(9, () => count(member))).granted).toHaveLength(9);
    const refused = () => expect(count(member)).rejects.toThrow();
    expect(await operationsOf(refused)).toEqual({ UpdateItem: 1, GetItem: 7 });
  });
});

describe('lost answers', () => {
  test('may count twice, so that the limit is reached early, and never count a free request', async () => {
    const { count, lost } = startProcess({ dailyLimit: 20 });
    const first = ({ attempt }: StoreOperation) => (attempt === 1 ? ('answer lost' as const) : undefined);
    const { granted } = await spoilt(first, () => inParallel(4, () => count(member)));
    expect([granted.length, lost]).toEqual([4, []]);
    expect((await inParallel(20, () => count(member))).granted).toHaveLength(20 - 2 * 4);
  });

  testRows<[StoreFault, string[], standing: number]>([
    // Each was written by all three attempts.
    ['answer lost', ['daily_limit', 'daily_limit'], 2 * 3],
    // The store has said that it did nothing.
    ['throttled', [], 0],
  ])('for good refuse the request, and are told if they leave its counts standing', async (fault, told, standing) => {
    const { count, lost } = startProcess({ dailyLimit: 20 });
    const { granted, refusals } = await spoilt(
      ({ name }) => (name === 'UpdateItem' ? fault : undefined),
      () => inParallel(2, () => count(member)),
    );
    expect(granted).toEqual([]);
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'service_unavailable', refund: true });
    expect(lost).toEqual(told);
    expect((await inParallel(22, () => count(member))).granted).toHaveLength(20 - standing);
  });

  test('of a refund leave its count standing, and say so', async () => {
    const { count, lost } = startProcess({ dailyLimit: 5 });
    const { granted } = await inParallel(5, () => count(member));
    await spoilt(
      () => 'request lost',
      async () => granted[0]?.refund(),
    );
    expect(lost).toEqual(['daily_limit']);
    await expect(count(member)).rejects.toMatchObject({ reason: 'daily_limit' });
  });
});

test('what was spent is read again after a failure, and once in ten seconds otherwise', async () => {
  let [time, reads] = [0, 0];
  const read = async () => {
    reads += 1;
    if (reads === 1) throw new Error('planted');
    return 1;
  };
  const tallies = { read, add: async () => undefined };
  const limit = createSpendLimit({ tallies, spendLimit: 16, now: () => time, onLost: () => {} });
  await expect(limit?.check()).rejects.toThrow('planted');
  for (const at of [0, 9_999, 10_000]) {
    time = at;
    expect(await limit?.check()).toBe(50);
  }
  expect(reads).toBe(3 * 8);
});
