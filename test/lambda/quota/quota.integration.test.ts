import { afterAll, describe, expect, test } from '@jest/globals';
import type { Identity } from '../../../lambda/identity/identify.ts';
import { type Limits, quotaWindow } from '../../../lambda/quota/policy.ts';
import { createQuota, type QuotaDependencies } from '../../../lambda/quota/quota.ts';
import { releaseAbandoned } from '../../../lambda/quota/reservations.ts';
import { createToken } from '../../../lambda/store/counters.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { startTestDynamoDb } from '../../support/dynamodb.ts';

const midnight = Date.UTC(2026, 10, 22);
const noon = midnight - 43_200_000;

const database = await startTestDynamoDb();
const counters = createCounters(database.callDynamoDb, database.quotaTable, Date.now);
let callers = 0;
afterAll(() => database.close());

function newGuest(): Identity {
  callers += 1;
  return { kind: 'guest', networkId: `net${callers}` };
}

function newMember(): Identity & { kind: 'member' } {
  callers += 1;
  return { kind: 'member', member: `member${callers}` };
}

function quotaAt(clock: { time: number }, more: Partial<QuotaDependencies> = {}) {
  return createQuota({
    counters,
    limits: { guestLimit: 3, guestWindow: 'lifetime', memberLimit: 50, burstLimit: 20 },
    now: () => clock.time,
    createToken,
    requestTimeout: 0,
    onLost: (error) => {
      throw error;
    },
    onNearlySpent() {},
    onAbandoned() {},
    ...more,
  });
}

describe('readFigures', () => {
  test('returns the limit and nothing remaining while the store is down', async () => {
    const lost: unknown[] = [];
    const quota = quotaAt(
      { time: noon },
      {
        counters: { ...counters, read: () => Promise.reject(new Error('down')) },
        onLost: (...failure) => lost.push(failure),
      },
    );
    const unread = { limit: 3, remaining: 0, burst: { limit: 20, remaining: 0, resetAt: noon + 60_000 } };
    expect(await quota.readSnapshot(newGuest())).toEqual(unread);
    expect(lost).toEqual([[new Error('down'), 'read']]);
    expect(quota.unreadSnapshot(newGuest())).toEqual(unread);
  });
});

test('the snapshot has the burst count of the charge’s minute, also after a refund', async () => {
  const [quota, caller] = [quotaAt({ time: noon }), newMember()];
  const { snapshot, refund } = await quota.charge(caller, 'req_1');
  expect(snapshot.burst).toEqual({ limit: 20, remaining: 19, resetAt: noon + 60_000 });
  expect(await refund()).toMatchObject({ remaining: 50, burst: snapshot.burst });
  expect(await quota.readSnapshot(caller)).toMatchObject({ remaining: 50, burst: snapshot.burst });
});

describe('a budget', () => {
  const memberBudget = { amount: 20_000_000, window: 'month' } as const;
  const limits: Limits = { guestLimit: 3, guestWindow: 'lifetime', memberLimit: 50, burstLimit: 20, memberBudget };
  const cost = { total: 960_000, advise: (left: number) => (left > 0 ? 'Ask for less output.' : undefined) };
  const monthEnd = Date.UTC(2026, 11, 1);

  test('shows in the snapshot of a charge, a settlement and a read', async () => {
    const [quota, caller] = [quotaAt({ time: noon }, { limits }), newMember()];
    const budgetOf = (remaining: number) => ({
      budget: { limit: 20_000_000, remaining, resetAt: monthEnd },
    });
    const charge = await quota.charge(caller, 'req_1', cost);
    expect(charge.snapshot).toMatchObject(budgetOf(19_040_000));
    expect(await charge.settle(30)).toMatchObject({ remaining: 49, ...budgetOf(19_999_970) });
    expect(await charge.refund()).toMatchObject({ remaining: 49, ...budgetOf(19_999_970) });
    expect(await quota.readSnapshot(caller)).toMatchObject({ remaining: 49, ...budgetOf(19_999_970) });
    expect(quota.unreadSnapshot(caller)).toMatchObject({ remaining: 0, ...budgetOf(0) });
  });

  test('reservations older than any request are reported once, and an operator can release them', async () => {
    const clock = { time: noon };
    const reports: unknown[] = [];
    const requestTimeout = 870_000;
    const quota = quotaAt(clock, {
      ...{ limits, requestTimeout },
      onAbandoned: (reservations, whose) => reports.push([...reservations.map(({ amount }) => amount), whose]),
    });
    const caller = { ...newMember(), keyId: 'key_a' };
    await quota.charge(caller, 'req_1', cost);
    clock.time += requestTimeout + 60_000 - 1;
    await (await quota.charge(caller, 'req_2', cost)).settle(40_000);
    expect(reports).toEqual([]);
    clock.time += 60_001;
    for (const id of ['req_3', 'req_4']) await (await quota.charge(caller, id, cost)).settle(0);
    // The budget is the member's, so no key is named.
    expect(reports).toEqual([[960_000, { requestId: 'req_3', key: undefined }]]);
    const window = quotaWindow(caller, clock.time, limits);
    const release = () => releaseAbandoned(counters, window, requestTimeout, clock.time);
    expect([await release(), await release()]).toEqual([960_000, 0]);
    expect(await quota.readSnapshot(caller)).toMatchObject({ remaining: 46, budget: { remaining: 19_960_000 } });
  });
});
