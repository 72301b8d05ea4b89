import { type AttributeValue, BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { showUsage } from '../../../operator/keys/usage.ts';
import { now, startKeysProgram } from './keys-program.ts';

const today = Math.floor(now / 86_400_000);
const count = 120;
/** Enough for more than two of DynamoDB's pages of a megabyte. */
const padding = { padding: { S: 'x'.repeat(20_000) } };

const { target, database, runJson, close } = await startKeysProgram({ memberLimit: 50 });
afterAll(close);

beforeAll(async () => {
  const numbers = Array.from({ length: count }, (_, index) => index);
  await put(
    database.keysTable,
    numbers.map((index) => ({
      ...{ pk: { S: `key#${index}` }, id: { S: `key_${index}` }, createdAt: { N: `${index}` } },
      ...{ member: { S: index % 2 === 0 ? 'even' : `odd-${index}` }, label: { S: `label ${index}` } },
      ...(index % 10 === 0 && { revokedAt: { N: '5' } }),
      ...(index % 10 === 1 && { expiresAt: { N: `${now}` } }),
      ...(index % 10 === 2 && { expiresAt: { N: `${now + 1}` } }),
    })),
  );
  const counter = (item: string, counts: Readonly<Record<string, number>>) => ({
    pk: { S: item },
    ...Object.fromEntries(Object.entries(counts).map(([name, used]) => [name, { N: `${used}` }])),
  });
  await put(
    database.quotaTable,
    numbers.flatMap((index) => [
      counter(`member#member-${index}`, {
        [`u${today}`]: index,
        ...(index % 3 === 0 && { [`u${today - 1}`]: 10_000 }),
      }),
      ...(index % 4 === 0 ? [counter(`guest#network-${index}`, { ulifetime: 3 })] : []),
      ...(index % 5 === 0 ? [counter(`count_tokens#member#member-${index}`, { ulifetime: 10_000 })] : []),
      ...(index % 6 === 0 ? [counter(`guest_daily_limit#${today}#${index}`, { used: 10_000 })] : []),
    ]),
  );
});

async function put(table: string, items: readonly Record<string, AttributeValue>[]): Promise<void> {
  for (let start = 0; start < items.length; start += 25) {
    const requests = items.slice(start, start + 25).map((item) => ({ PutRequest: { Item: { ...item, ...padding } } }));
    await database.client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
  }
}

test.each([
  ['revoked', (index: number) => index % 10 === 0],
  ['expired', (index: number) => index % 10 === 1],
  ['live', (index: number) => index % 10 > 1],
] as const)('list finds every key that is %s once, the newest first', async (state, isListed) => {
  const { keys } = await runJson('list', '--state', state);
  const ids = Array.from({ length: count }, (_, index) => index)
    .filter(isListed)
    .toReversed();
  expect(keys.map(({ id }: { id: string }) => id)).toEqual(ids.map((index) => `key_${index}`));
  const found = await runJson('list', '--member', 'even', '--label', 'label 11', '--state', state);
  const labelled = ids.filter((index) => index % 2 === 0 && `label ${index}`.includes('label 11'));
  expect(found.keys.map(({ label }: { label: string }) => label)).toEqual(labelled.map((index) => `label ${index}`));
});

test('usage reads all pages of the table, pauses between them, and shows who used most', async () => {
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const most = [119, 118, 117];
  const { json, text } = await showUsage(target, 3, now, pause);
  expect(json).toEqual({
    ...{ day: '2026-11-21', users: count - 1, requests: ((count - 1) * count) / 2 },
    guests: { networks: 30, requests: 90 },
    budgets: [],
    top: most.map((used) => ({
      ...{ kind: 'member', id: `member-${used}`, member: null, label: null, used, limit: 50 },
      ...{ burst: null, models: null },
    })),
  });
  expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['KIND', 'ID', 'MEMBER', 'LABEL', 'USED', 'LIMIT', 'BURST', 'MODELS'],
    ...most.map((used) => ['member', `member-${used}`, `${used}`, '50']),
    [''],
    ['7140 requests today (2026-11-21, UTC) by 119 members, keys and daily guests.'],
    ['90 requests of 30 guests, each within its lifetime.'],
  ]);
  expect(pauses).toBeGreaterThan(0);
});
