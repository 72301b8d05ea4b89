import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from '@jest/globals';
import { dayOf } from '../../../lambda/quota/policy.ts';
import { createScanCounters } from '../../../lambda/tables/scan-counters.ts';
import { startTestDynamoDb } from '../../support/dynamodb.ts';

test('counters are read in pages that a slow connection can bring in time, with a pause between them', async () => {
  const now = Date.UTC(2026, 10, 21);
  await using database = await startDatabase();
  const { client, callDynamoDb, quotaTable } = database;
  const count = 2_001;
  const used = `u${dayOf(now).period}`;
  const items = Array.from({ length: count }, (_, index) => ({ pk: { S: `member#${index}` }, [used]: { N: '1' } }));
  for (let start = 0; start < count; start += 25) {
    const requests = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [quotaTable]: requests } }));
  }

  const pages: number[] = [];
  const found = new Set<string>();
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  for await (const { scanned, counters } of createScanCounters(callDynamoDb, quotaTable)(now, pause)) {
    pages.push(scanned);
    for (const { item } of counters) found.add(item);
  }
  expect({ pages, pauses, found: found.size }).toEqual({ pages: [2_000, 1], pauses: 1, found: count });
});

async function startDatabase() {
  const database = await startTestDynamoDb();
  return { ...database, [Symbol.asyncDispose]: database.close };
}
