import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createBatches, type Waiting } from '../../../../lambda/store/sqlite/batches.ts';
import { openDatabase } from '../../../../lambda/store/sqlite/database.ts';
import { createOperations, type Operations } from '../../../../lambda/store/sqlite/operations.ts';

/* What the thread does between two turns of its event loop, with a clock of the test's own. */

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
let database: DatabaseSync;
let operations: Operations;
let time = 0;
let doBatch: ReturnType<typeof createBatches>;
beforeEach(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'gateway-batches-'));
  database = openDatabase(join(folder.path, 'gateway.db'), true);
  operations = createOperations(database);
  time = 0;
  doBatch = createBatches(database, operations, () => time);
});
afterEach(async () => {
  database.close();
  await folder.remove();
});

const window = { item: 'member#ada', period: 1, limit: 50, burst: 50, minute: 1 };
let orders = 0;
const order = (name: string, ...input: unknown[]): Waiting => {
  orders += 1;
  return { id: orders, room: 'counters', name, input, until: 2_000 };
};
const charge = (token: string, more: object = {}) => order('charge', { ...window, ...more }, token);

test('a commit is on the disk before anything is answered', () => {
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 }); // FULL
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
});

test('what has come together is one transaction, in which a fault undoes only what is its own', () => {
  const other = new DatabaseSync(join(folder.path, 'gateway.db'));
  const versions = () => Number(other.prepare('PRAGMA data_version').get()?.data_version);
  const before = versions();
  const budget = { amount: 2 ** 60, window: 'day', period: 'd1', resetAt: 0, reserve: 2 ** 53 };
  const all = [charge('a'), charge('b', { budget }), charge('c'), order('unheard-of')];
  const { replies, left } = doBatch(all);
  expect(left).toEqual([]);
  expect(replies).toMatchObject([
    { id: all[0]?.id, value: { granted: true, used: 1 } },
    { id: all[1]?.id, fault: { kind: 'too large' } },
    { id: all[2]?.id, value: { granted: true, used: 2 } },
    { id: all[3]?.id },
  ]);
  expect(operations.counters.read(window)).toMatchObject({ used: 2, inMinute: 2 });
  expect(versions()).toBe(before + 1);
  other.close();
});

test('behind another process’s lock what reads is answered, and what writes waits for two seconds and is refused', () => {
  const other = new DatabaseSync(join(folder.path, 'gateway.db'));
  other.exec('BEGIN IMMEDIATE');
  const [first, read] = [charge('a'), order('read', window)];
  const locked = doBatch([first, read]);
  expect(locked).toMatchObject({ replies: [{ id: read.id, value: { used: 0 } }], left: [first] });
  time = 1_999;
  expect(doBatch(locked.left).left).toEqual([first]);
  time = 2_000;
  // Nobody has to look whether it was carried out: it never will be.
  expect(doBatch(locked.left)).toMatchObject({
    replies: [{ id: first.id, fault: { kind: 'refused', code: 'SQLITE_BUSY' } }],
    left: [],
  });
  other.exec('ROLLBACK');
  other.close();
  expect(doBatch([{ ...charge('b'), until: 3_000 }])).toMatchObject({ replies: [{ value: { used: 1 } }] });
});

test('a full disk refuses all of a transaction, and the next one may pass', () => {
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const many = Array.from({ length: 400 }, (_, index) => charge(`${index}`, { item: `member#${index}` }));
  const { replies } = doBatch(many);
  expect(replies).toHaveLength(400);
  for (const reply of replies) expect(reply).toMatchObject({ fault: { kind: 'refused', code: 'SQLITE_FULL' } });
  expect(operations.counters.read({ ...window, item: 'member#0' })).toMatchObject({ used: 0 });
  database.exec('PRAGMA max_page_count = 1000');
  expect(doBatch([charge('x')])).toMatchObject({ replies: [{ value: { used: 1 } }] });
});
