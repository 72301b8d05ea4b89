import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { dayOf } from '../../../../lambda/budget/time.ts';
import { createGlobalCounters } from '../../../../lambda/store/dynamodb/global-counters.ts';
import type { Item } from '../../../../lambda/store/dynamodb/table.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../../support/dynamodb.ts';

let database: TestDynamoDb;
beforeAll(async () => {
  database = await startTestDynamoDb();
});
afterAll(() => database.close());

test('a day’s counts grow up to their limits under concurrency, and expire', async () => {
  const globalCounters = createGlobalCounters(database.callDynamoDb, database.quotaTable);
  const day = dayOf(Date.UTC(2026, 5, 15, 12));
  const ofGuest = { requests: 1, guests: 1 };
  const most = { requests: 100, guests: 5 };
  const results = await Promise.all(Array.from({ length: 8 }, () => globalCounters.add(day, ofGuest, most)));
  expect(results.filter(({ added }) => !added).map(({ counts }) => counts)).toEqual(
    Array(3).fill({ requests: 5, guests: 5, spent: 0 }),
  );
  expect(await globalCounters.add(day, { requests: 1 }, { requests: 5 })).toMatchObject({ added: false });
  expect(await globalCounters.add(day, { requests: 1 }, { requests: 6 })).toMatchObject({ added: true });
  await globalCounters.add(day, { requests: -1, guests: -1 });
  await globalCounters.add(day, { spent: 12 });
  expect(await globalCounters.read(day.period)).toEqual({ requests: 5, guests: 4, spent: 12 });
  expect(await globalCounters.read(day.period + 1)).toEqual({ requests: 0, guests: 0, spent: 0 });
  const input = { TableName: database.quotaTable, Key: { pk: { S: `deployment#${day.period}` } } };
  const { Item } = await database.callDynamoDb<{ readonly Item: Item }>('GetItem', { ...input, ConsistentRead: true });
  expect(Item.ttl).toEqual({ N: String(day.expiresAt / 1000) });
});
