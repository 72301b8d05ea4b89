import { describe, expect, test } from '@jest/globals';
import type { GatewayError } from '../../../lambda/errors.ts';
import type { Identity } from '../../../lambda/identity/identify.ts';
import { createDeploymentLimit, createSpendLimit } from '../../../lambda/quota/deployment-limits.ts';
import type { Charge } from '../../../lambda/quota/quota.ts';
import { createGlobalCounterStore, type Fault } from '../../support/global-counter-store.ts';
import { testRows } from '../../support/test-rows.ts';

const member: Identity = { kind: 'member', member: 'ada' };
const guest: Identity = { kind: 'guest', networkId: 'net' };
const charge: Charge = {
  snapshot: { limit: 50, remaining: 49 },
  refund: async () => ({ limit: 50, remaining: 50 }),
  settle: async () => undefined,
  snapshotAfter: () => ({ limit: 50, remaining: 49 }),
};

/** The limits in one process. Another process shares only the store with it. */
function start(limits: { dailyLimit?: number; guestDailyLimit?: number }, store = createGlobalCounterStore()) {
  const clock = { time: Date.UTC(2026, 0, 1, 12) };
  const lost: string[] = [];
  const limit = createDeploymentLimit({
    dailyLimit: limits.dailyLimit,
    guestDailyLimit: limits.guestDailyLimit,
    globalCounters: store,
    now: () => clock.time,
    onLost: (_, name) => lost.push(name),
  });
  const count = (identity: Identity) => limit.count(identity, charge);
  const crowd = async (size: number, identity = member) => {
    const outcomes = await Promise.allSettled(Array.from({ length: size }, () => count(identity)));
    const granted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.charge] : []));
    const refusals: GatewayError[] = outcomes.flatMap((outcome) => ('reason' in outcome ? [outcome.reason] : []));
    return { granted, refusals };
  };
  /** The operations of the store meanwhile. */
  const operationsOf = async (act: () => Promise<unknown>) => {
    store.operations.length = 0;
    await act().catch(() => {});
    return [...store.operations];
  };
  return {
    store,
    clock,
    lost,
    count,
    crowd,
    operationsOf,
    passing: async (size: number, identity = member) => (await crowd(size, identity)).granted.length,
  };
}

describe('a limit of the deployment', () => {
  test('reports how much of it is used', async () => {
    const { count } = start({ dailyLimit: 20, guestDailyLimit: 10 });
    expect((await count(member)).used).toEqual({ daily_limit: 5 });
    expect((await count(guest)).used).toEqual({ guest_daily_limit: 10, daily_limit: 10 });
  });

  test('costs one write per request, one per refund, and one per refusal', async () => {
    const { count, operationsOf, passing } = start({ dailyLimit: 40 });
    expect(await operationsOf(() => count(member))).toEqual(['write']);
    expect(await operationsOf(() => count(guest))).toEqual(['write']);
    const counted = await count(guest);
    expect(await operationsOf(counted.charge.refund)).toEqual(['write']);
    expect(await operationsOf(counted.charge.refund)).toEqual([]);
    await passing(38);
    expect(await operationsOf(() => count(member))).toEqual(['write']);
  });
});

describe('limits of guests', () => {
  test('apply to guests only, whose requests also count towards the limit of all', async () => {
    const { crowd, passing } = start({ dailyLimit: 20, guestDailyLimit: 10 });
    const { granted, refusals } = await crowd(15, guest);
    expect([granted.length, ...new Set(refusals.map(({ reason }) => reason))]).toEqual([10, 'guest_daily_limit']);
    expect(refusals[0]?.message).toMatch(
      /of guests as it may .* Before that, use a key, which the operator makes by `npm run keys -- issue`\.$/,
    );
    expect(await passing(15)).toBe(10);
  });

  testRows([
    [20, 4],
    [11, 3],
    [2, 1],
  ])('are a fifth of the limit of all if only that is set, and at least one', async (dailyLimit, most) => {
    expect(await start({ dailyLimit }).passing(5, guest)).toBe(most);
  });

  test('alone admit members without a write', async () => {
    const { count, operationsOf, passing } = start({ guestDailyLimit: 1 });
    expect(await passing(3, guest)).toBe(1);
    expect(await operationsOf(() => count(member))).toEqual([]);
  });

  test('refuse a guest without counting against the overall limit, and are named first if both are reached', async () => {
    const { count, passing } = start({ dailyLimit: 3, guestDailyLimit: 1 });
    expect(await passing(3, guest)).toBe(1);
    expect(await passing(3)).toBe(2);
    await expect(count(guest)).rejects.toMatchObject({ reason: 'guest_daily_limit' });
  });

  test('don’t count a guest whom the overall limit refuses, or who is refunded', async () => {
    const { crowd, passing } = start({ dailyLimit: 8, guestDailyLimit: 4 });
    const members = await crowd(8);
    const { refusals } = await crowd(4, guest);
    expect(refusals.map(({ reason }) => reason)).toEqual(Array(4).fill('daily_limit'));
    await Promise.all(members.granted.map(({ refund }) => refund()));
    const guests = await crowd(6, guest);
    expect(guests.granted).toHaveLength(4);
    await Promise.all(guests.granted.map(({ refund }) => refund()));
    expect([await passing(6, guest), await passing(6)]).toEqual([4, 4]);
  });
});

testRows<[Fault, Identity, told: string[], standing: number]>([
  ['answer lost', member, ['daily_limit'], 1],
  ['answer lost', guest, ['guest_daily_limit', 'daily_limit'], 1],
  // The store has said that it did nothing.
  ['failing', member, [], 0],
])(
  'a failing store refuses and refunds, and counts left standing are reported',
  async (fault, caller, told, standing) => {
    const { store, count, lost, passing } = start({ dailyLimit: 20 });
    store.fault = fault;
    await expect(count(caller)).rejects.toMatchObject({ code: 'service_unavailable', refund: true });
    expect(lost).toEqual(told);
    store.fault = undefined;
    expect(await passing(22)).toBe(20 - standing);
  },
);

test('a failed refund leaves its count standing, and is reported', async () => {
  const { store, crowd, count, lost } = start({ dailyLimit: 5 });
  const { granted } = await crowd(5);
  store.fault = 'failing';
  await granted[0]?.refund();
  store.fault = undefined;
  expect(lost).toEqual(['daily_limit']);
  await expect(count(member)).rejects.toMatchObject({ reason: 'daily_limit' });
});

/** The spend limit in one process. */
function startSpending(spendLimit: number) {
  const clock = { time: 0 };
  const lost: unknown[] = [];
  const store = createGlobalCounterStore();
  const limit = createSpendLimit({
    ...{ globalCounters: store, spendLimit, now: () => clock.time },
    onLost: (error) => lost.push(error),
  });
  /** The spending of each day in the store. */
  const spent = () => [...store.globalCounters.values()].map((counts) => counts.spent);
  return { ...limit, clock, lost, store, spent };
}

test('what this process has spent counts at once, and once', async () => {
  const { add, check, clock } = startSpending(16);
  await check();
  for (const percent of [25, 50, 75]) {
    await add(4);
    expect(await check()).toBe(percent);
  }
  // Once more when it has been read, and while it is being written.
  clock.time = 10_000;
  expect(await check()).toBe(75);
  clock.time = 20_000;
  const adding = add(4);
  await expect(check()).rejects.toMatchObject({ reason: 'spend_limit' });
  await adding;
  clock.time = 30_000;
  await expect(check()).rejects.toMatchObject({ reason: 'spend_limit' });
});

test('the total is read every ten seconds, and again after a failure', async () => {
  const { add, check, clock, lost, store } = startSpending(16);
  for (let count = 0; count < 8; count += 1) await add(1);
  store.fault = 'failing';
  await expect(check()).rejects.toThrow('down');
  await add(1);
  expect(lost).toHaveLength(1);
  store.fault = undefined;
  store.operations.length = 0;
  for (const [time, reads] of [
    [0, 1],
    [9_999, 1],
    [10_000, 2],
  ] as const) {
    clock.time = time;
    expect([await check(), store.operations.length]).toEqual([50, reads]);
  }
});

test('costs that arrive during a write are batched, each once, and none waits for more than two writes', async () => {
  const { add, check, lost, store, spent } = startSpending(1_000);
  const first = add(1);
  await Promise.resolve();
  const others = [2, 3, 4].map(add);
  await first;
  expect(spent()).toEqual([1]);
  await Promise.all(others);
  expect(spent()).toEqual([10]);
  expect(store.operations).toEqual(['write', 'write']);
  // A failure is reported once, and does not block later costs.
  store.fault = 'failing';
  await Promise.all([add(5), add(6)]);
  expect(lost).toHaveLength(1);
  store.fault = undefined;
  await add(7);
  expect(await check()).toBe(1.7);
});

test('a total that is read while costs are being written includes each cost once', async () => {
  const { add, check } = startSpending(100);
  const first = add(1);
  await Promise.resolve();
  const before = add(2);
  const checked = check();
  const after = add(4);
  expect(await checked).toBe(7);
  await Promise.all([first, before, after]);
  expect(await check()).toBe(7);
});

test('costs of two days are never batched together', async () => {
  const { add, clock, store, spent } = startSpending(100);
  clock.time = 86_399_999;
  const ofYesterday = add(1);
  clock.time += 1;
  await Promise.all([ofYesterday, add(2), add(4)]);
  expect([[...store.globalCounters.keys()], spent()]).toEqual([
    [0, 1],
    [1, 6],
  ]);
});
