import { describe, expect, test } from '@jest/globals';
import type { GatewayError } from '../../../lambda/errors.ts';
import type { Identity } from '../../../lambda/identity/identify.ts';
import { createDeploymentLimit } from '../../../lambda/quota/deployment-limit.ts';
import type { Charge } from '../../../lambda/quota/quota.ts';
import { createTallyStore, type Fault } from '../../support/tally-store.ts';
import { testRows } from '../../support/test-rows.ts';

const member: Identity = { kind: 'member', member: 'ada' };
const guest: Identity = { kind: 'guest', networkId: 'net' };
const charge: Charge = {
  figures: { limit: 50, remaining: 49 },
  refund: async () => ({ limit: 50, remaining: 50 }),
  settle: async () => undefined,
  figuresAfter: () => ({ limit: 50, remaining: 49 }),
};

/** The limits as one process has them: another one shares nothing with it but the store. */
function start(limits: { dailyLimit?: number; guestDailyLimit?: number }, store = createTallyStore()) {
  const clock = { time: Date.UTC(2026, 0, 1, 12) };
  const lost: string[] = [];
  const limit = createDeploymentLimit({
    ...{ dailyLimit: undefined, guestDailyLimit: undefined, ...limits },
    ...{ tallies: store, now: () => clock.time, onLost: (_, name) => lost.push(name) },
  });
  const count = async (identity: Identity) => {
    return limit.count(identity, charge);
  };
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
  testRows([1, 3, 20])('lets exactly as many pass, with any number of processes at once', async (dailyLimit) => {
    const store = createTallyStore();
    const passed = await Promise.all(
      [start({ dailyLimit }, store), start({ dailyLimit }, store)].map(({ passing }) => passing(15)),
    );
    expect((passed[0] ?? 0) + (passed[1] ?? 0)).toBe(dailyLimit);
    const items = [...store.sums.keys()].map((name) => name.replace(/#\d+#/, ' '));
    const parts = Array.from({ length: Math.min(8, dailyLimit) }, (_, index) => `daily_limit ${index}`);
    expect(items.sort()).toEqual(parts);
  });

  test('has parts that fill evenly', async () => {
    const { store, passing } = start({ dailyLimit: 40 });
    await passing(16);
    expect([...store.sums.values()]).toEqual(Array(8).fill(2));
  });

  test('restarts at midnight UTC, and a later refund counts for the day of its charge', async () => {
    const { clock, crowd, passing } = start({ dailyLimit: 2 });
    const { granted } = await crowd(5);
    clock.time += 43_200_000;
    await granted[0]?.refund();
    expect(await passing(5)).toBe(2);
    clock.time -= 43_200_000; // an environment whose clock is behind
    expect(await passing(5)).toBe(1);
  });

  test('costs a write a request, two for a guest, as many for a refund, and once it is spent one and the other reads', async () => {
    const { count, operationsOf, passing } = start({ dailyLimit: 40 });
    expect(await operationsOf(() => count(member))).toEqual(['write']);
    expect(await operationsOf(() => count(guest))).toEqual(['write', 'write']);
    const counted = await count(guest);
    expect(await operationsOf(counted.charge.refund)).toEqual(['write', 'write']);
    expect(await operationsOf(counted.charge.refund)).toEqual([]);
    await passing(38);
    expect(await operationsOf(() => count(member))).toEqual(['write', ...Array(7).fill('read')]);
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

  test('alone let members pass without a write', async () => {
    const { count, operationsOf, passing } = start({ guestDailyLimit: 1 });
    expect(await passing(3, guest)).toBe(1);
    expect(await operationsOf(() => count(member))).toEqual([]);
  });

  test('refuse a guest before the limit of all is touched', async () => {
    const { count, operationsOf } = start({ dailyLimit: 20, guestDailyLimit: 1 });
    await count(guest);
    expect(await operationsOf(() => count(guest))).toEqual(['write']);
  });

  test('get their count back if the limit of all refuses them, or is refunded', async () => {
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

testRows<[Fault, string[], standing: number]>([
  ['answer lost', ['daily_limit', 'daily_limit'], 2],
  // The store has said that it did nothing.
  ['failing', [], 0],
])('a store that fails refuses and refunds, and what it leaves standing is told', async (fault, told, standing) => {
  const { store, crowd, lost, passing } = start({ dailyLimit: 20 });
  store.fault = fault;
  const { granted, refusals } = await crowd(2);
  expect(granted).toEqual([]);
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'service_unavailable', refund: true });
  expect(lost).toEqual(told);
  store.fault = undefined;
  expect(await passing(22)).toBe(20 - standing);
});

test('a refund that the store does not take leaves its count standing, and says so', async () => {
  const { store, crowd, count, lost } = start({ dailyLimit: 5 });
  const { granted } = await crowd(5);
  store.fault = 'failing';
  await granted[0]?.refund();
  store.fault = undefined;
  expect(lost).toEqual(['daily_limit']);
  await expect(count(member)).rejects.toMatchObject({ reason: 'daily_limit' });
});
