import { expect, test } from '@jest/globals';
import { dayOf } from '../../../../lambda/budget/time.ts';
import { createGlobalCounters } from '../../../../lambda/store/dynamodb/global-counters.ts';
import type { Item } from '../../../../lambda/store/dynamodb/table.ts';
import { startTestDynamoDb } from '../../../support/dynamodb.ts';

test('a day’s counts expire with their day', async () => {
  const { callDynamoDb, quotaTable, close } = await startTestDynamoDb();
  const day = dayOf(Date.UTC(2026, 5, 15, 12));
  await createGlobalCounters(callDynamoDb, quotaTable).add(day, { requests: 1 });
  const input = { TableName: quotaTable, Key: { pk: { S: `deployment#${day.period}` } }, ConsistentRead: true };
  const { Item } = await callDynamoDb<{ readonly Item: Item }>('GetItem', input);
  expect(Item.ttl).toEqual({ N: String(day.expiresAt / 1000) });
  await close();
});
