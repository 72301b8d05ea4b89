import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLimits, type Limits } from '../../../lambda/accounts/page-limits.ts';
import { createCounters } from '../../../lambda/store/dynamodb/counters.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type StoppedTimers, stopTimers } from '../../support/stop-timers.ts';

describe('the limits of a network and a wallet', () => {
  let database: TestDynamoDb;
  let limits: Limits;
  let time: number;
  let timers: StoppedTimers;

  beforeEach(async () => {
    time = Date.UTC(2026, 10, 21, 12, 30);
    database = await startTestDynamoDb();
    const counters = createCounters(database.callDynamoDb, database.quotaTable, () => time);
    limits = createLimits({ counters, now: () => time });
    // Parallel requests would mistake their own backlog for a slow store.
    timers = stopTimers();
  });
  afterEach(async () => {
    timers[Symbol.dispose]();
    await database.close();
  });

  const granted = async (count: number, act: (number: number) => Promise<unknown>) => {
    const results = await Promise.allSettled(Array.from({ length: count }, (_, number) => act(number)));
    return results.filter(({ status }) => status === 'fulfilled').length;
  };

  test('60 messages an hour for a network, and the message says how long to wait', async () => {
    expect(await granted(64, () => limits.count('challenges', 'network'))).toBe(60);
    await expect(limits.count('challenges', 'network')).rejects.toMatchObject({
      code: 'rate_limited',
      message: 'That was too often: a network may ask for 60 messages an hour. Please try again in 30 minutes.',
      headers: { 'retry-after': '1800' },
    });
    await limits.count('challenges', 'another');
    for (const [minutes, seconds, wait] of [
      [59, 58, 'in 2 seconds'],
      [59, 59, 'in 1 second'],
      [58, 30, 'in 2 minutes'],
    ] as const) {
      time = Date.UTC(2026, 10, 21, 12, minutes, seconds);
      const message = expect.stringMatching(`again ${wait}\\.$`);
      await expect(limits.count('challenges', 'network')).rejects.toMatchObject({ message });
    }
    time = Date.UTC(2026, 10, 21, 13);
    await limits.count('challenges', 'network');
  });

  test('30 keys and links a day for a network, whatever the wallets', async () => {
    expect(await granted(33, (number) => limits.countGrant('network', `wallet${number}`))).toBe(30);
    await expect(limits.countGrant('network', 'wallet99')).rejects.toMatchObject({
      headers: { 'retry-after': '41400' },
      message: expect.stringMatching(/again in 12 hours\.$/),
    });
    time += 41_400_000;
    await limits.countGrant('network', 'wallet99');
    // Nobody can create company accounts for free.
    expect(await granted(31, (number) => limits.countGrant('office', `oidc:${number}`))).toBe(31);
    expect(await granted(12, () => limits.countGrant('office', 'oidc:ada'))).toBe(10);
  });

  test('10 for a wallet, whatever the networks; a refusal does not count for the network', async () => {
    expect(await granted(12, (number) => limits.countGrant(`network${number}`, 'wallet'))).toBe(10);
    const before = await database.client.send(new ScanCommand({ TableName: database.quotaTable }));
    // None is deleted before its day has ended.
    for (const { ttl } of before.Items ?? []) expect(Number(ttl?.N) * 1000).toBeGreaterThan(Date.UTC(2026, 10, 22));
    expect(await granted(5, () => limits.countGrant('cafe', 'wallet'))).toBe(0);
    const after = await database.client.send(new ScanCommand({ TableName: database.quotaTable }));
    expect(after.Items).toEqual(before.Items);
    expect(await granted(30, (number) => limits.countGrant('cafe', `guest${number}`))).toBe(30);
  });

  test('nor does one by the network count for the wallet', async () => {
    expect(await granted(30, (number) => limits.countGrant('cafe', `guest${number}`))).toBe(30);
    expect(await granted(10, () => limits.countGrant('cafe', 'wallet'))).toBe(0);
    expect(await granted(11, (number) => limits.countGrant(`network${number}`, 'wallet'))).toBe(10);
  });
});
