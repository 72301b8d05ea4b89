import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from '@jest/globals';
import { createAdminCounters } from '../../../../lambda/store/admin/counters.ts';
import type { ScannedCounter } from '../../../../lambda/store/counters.ts';
import type { Item } from '../../../../lambda/store/dynamodb/table.ts';
import { startTestDynamoDb } from '../../../support/dynamodb.ts';

const now = Date.UTC(2026, 10, 21);

/** In the current day, week and month. */
const kinds: Readonly<Record<string, Item>> = {
  ofDay: { u20778: { N: '3' }, ulifetime: { N: '2' } },
  ofWeek: { bw2968: { N: '7' } },
  ofMonth: { bm682: { N: '9' }, 'h29755440.token': { S: 'm682 4' }, bd20778: { N: '5' } },
  unused: { u20778: { N: '0' }, u20777: { N: '1' } },
};

test('counters are read in pages small enough for a slow connection, with a pause between them', async () => {
  const database = await startTestDynamoDb();
  const { client, documents, quotaTable } = database;
  const count = 2_001;
  const items = Array.from({ length: count }, (_, index) => {
    const [name = '', counts] = Object.entries(kinds)[index % 4] ?? [];
    return { ...counts, pk: { S: index < 4 ? name : `${index}` } };
  });
  for (let start = 0; start < count; start += 25) {
    const requests = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [quotaTable]: requests as [] } }));
  }
  const pages: number[] = [];
  const found = new Map<string, ScannedCounter>();
  const pausedAfter: number[] = [];
  const pause = async () => void pausedAfter.push(pages.length);
  for await (const { scanned, counters } of createAdminCounters(documents, quotaTable).scan(now, pause)) {
    pages.push(scanned);
    for (const counter of counters) found.set(counter.item, counter);
  }
  expect({ pages, pausedAfter, found: found.size }).toEqual({
    pages: [2_000, 1],
    pausedAfter: [1],
    found: count - 500,
  });
  expect(found.get('ofDay')).toMatchObject({ usedToday: 3, usedInLifetime: 2, budgets: { day: { taken: 0 } } });
  expect(found.get('ofWeek')).toMatchObject({ usedToday: 0, usedInLifetime: 0, budgets: { week: { taken: 7 } } });
  expect(found.get('ofMonth')).toMatchObject({
    budgets: { day: { taken: 5 }, month: { taken: 9, open: [{ amount: 4 }] } },
  });
  await database.close();
});
