import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeCause } from '../../../../lambda/report/log.ts';
import { createToken } from '../../../../lambda/store/counters.ts';
import { refuseOwner, refuseShared } from '../../../../lambda/store/sqlite/folder.ts';
import { migrate, migrations, versionOf } from '../../../../lambda/store/sqlite/schema.ts';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';
import { createSweep } from '../../../../lambda/store/sqlite/sweep.ts';
import { testRows } from '../../../support/test-rows.ts';

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
beforeEach(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'gateway-sqlite-'));
});
afterEach(() => folder.remove());

const noon = Date.UTC(2026, 10, 21, 12);
const pathOf = (...names: string[]) => join(folder.path, ...names);
const open = (...names: string[]) => openSqliteStore(pathOf(...names), { now: () => noon, serves: true });
const modeOf = (...names: string[]) => (statSync(pathOf(...names)).mode & 0o777).toString(8);
const window = { item: 'member#ada', period: 1, limit: 50, burst: 50, minute: 1 };

test('what it makes is for its user alone, and so is what it finds open to others, which it says', async () => {
  const first = await open('new', 'data');
  expect(first.wasOpen).toBe(false);
  await first.store.counters.charge(window, createToken());
  expect(['', 'data'].map((name) => modeOf('new', name))).toEqual(['700', '700']);
  const files = ['gateway.db', 'gateway.db-wal', 'gateway.db-shm'];
  expect(files.map((name) => modeOf('new', 'data', name))).toEqual(['600', '600', '600']);
  await first.close();
  chmodSync(pathOf('new', 'data'), 0o755);
  chmodSync(pathOf('new', 'data', 'gateway.db'), 0o644);
  const second = await open('new', 'data');
  expect([second.wasOpen, modeOf('new', 'data'), modeOf('new', 'data', 'gateway.db')]).toEqual([true, '700', '600']);
  expect(await second.store.counters.read(window)).toMatchObject({ used: 1 });
  await second.close();
});

test('only a gateway creates a folder: for a command, one without a gateway’s file is a mistake', async () => {
  for (const name of ['', 'mistyped']) {
    const opened = openSqliteStore(pathOf(name), { now: () => noon, serves: false });
    await expect(opened).rejects.toThrow(/^no gateway has used it yet: correct the path, or issue/);
  }
  expect(readdirSync(folder.path)).toEqual([]);
});

test('while another process holds the lock it reads, and what writes waits', async () => {
  const { store, close } = await open();
  const other = new DatabaseSync(pathOf('gateway.db'));
  other.exec('BEGIN IMMEDIATE');
  const charge = store.counters.charge(window, createToken());
  expect(await store.counters.read(window)).toMatchObject({ used: 0 });
  other.exec('ROLLBACK');
  expect(await charge).toMatchObject({ granted: true, used: 1 });
  other.close();
  await close();
});

testRows<[name: string, prepare: () => void, sentence: RegExp]>([
  [
    'a file of something else',
    () => writeFileSync(pathOf('gateway.db'), 'x'.repeat(4096)),
    /^gateway\.db is damaged .*restore a backup/,
  ],
  ['a newer version', () => writeVersion(migrations.length + 1), /^a newer version .* run that one/],
  [
    'an emulator’s folder',
    () => mkdirSync(pathOf('dynamodb')),
    /^it holds the tables of an earlier version.* issue keys anew/,
  ],
  ['other files that others may read', shareFolder, /^it holds other files and is open to other users.*nothing else/],
])('says in a sentence what is wrong with a folder, and what to do', async (_, prepare, sentence) => {
  await folder.remove();
  folder = await mkdtempDisposable(join(tmpdir(), 'gateway-sqlite-'));
  prepare();
  await expect(open()).rejects.toThrow(sentence);
});

test('a start reads the whole file, and finds damage where no request has looked yet', async () => {
  const { store, close } = await open();
  await store.counters.charge(window, createToken());
  await close();
  const database = new DatabaseSync(pathOf('gateway.db'));
  const { rootpage } = database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'requests'`).get() ?? {};
  database.close();
  const bytes = readFileSync(pathOf('gateway.db'));
  const page = 4096;
  writeFileSync(pathOf('gateway.db'), bytes.fill(0x5a, (Number(rootpage) - 1) * page, Number(rootpage) * page));
  await expect(open()).rejects.toThrow(/^gateway\.db is damaged .*docs\/recovery\.md/);
  const unchecked = await openSqliteStore(folder.path, { now: () => noon, serves: false });
  await unchecked.close();
});

function shareFolder(): void {
  writeFileSync(pathOf('notes'), '');
  chmodSync(folder.path, 0o755);
}

test('what can’t be used is left as it was', async () => {
  writeFileSync(pathOf('file'), '', { mode: 0o644 });
  await expect(open('file')).rejects.toThrow('it is a file: name a folder');
  expect(modeOf('file')).toBe('644');
  shareFolder();
  await expect(open()).rejects.toThrow('it holds other files');
  expect([modeOf(), readdirSync(folder.path).toSorted()]).toEqual(['755', ['file', 'notes']]);
});

test('a file that can’t be written ends the start, not only the first charge', async () => {
  await (await open()).close();
  chmodSync(pathOf('gateway.db'), 0o400);
  const nobody = 65_534;
  if (userInfo().uid === 0) for (const path of [folder.path, pathOf('gateway.db')]) chownSync(path, nobody, nobody);
  const program = `
    import { prepareFolder } from ${JSON.stringify(import.meta.resolve('../../../../lambda/store/sqlite/folder.ts'))};
    if (process.getuid() === 0) process.setuid(${nobody}); // root may write to any file
    prepareFolder(${JSON.stringify(folder.path)});`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr).toContain('FolderError: EACCES: permission denied, access');
});

test('the log names why the store fails, by SQLite’s own code', async () => {
  const { store, close } = await open();
  const other = new DatabaseSync(pathOf('gateway.db'));
  other.exec('DROP TABLE stops; CREATE TABLE stops (other)');
  const error = await store.readStop().catch((refused: unknown) => refused);
  expect(describeCause(error)).toMatchObject({ cause: 'StoreError', causeCode: 'SQLITE_1' });
  other.close();
  await close();
});

test('refuses what another user could put keys into, but for root’s own, and what root itself uses', () => {
  expect(() => refuseOwner(1001, 1000)).toThrow(/^it belongs to another user .*: name a folder of your own$/);
  for (const [owner, user] of [
    [1000, 1000],
    [0, 1000],
    [1000, 0],
  ] as const)
    refuseOwner(owner, user);
});

test('refuses file systems that machines share', () => {
  expect(() => refuseShared(0x6969)).toThrow(/machines share, where locks may not hold: name a folder on a disk/);
  for (const local of [0xef53, 0x58465342, 0x01021994, 0x9123683e]) refuseShared(local);
});

function writeVersion(version: number): void {
  const database = new DatabaseSync(pathOf('gateway.db'));
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

test('deletes what has expired, a part at a time, and nothing else', async () => {
  const { store, adminStore, close } = await open();
  const minute = Math.floor(noon / 60_000);
  const expiring = { ...window, minute, expiresAt: noon + 1 };
  for (let index = 0; index < 5; index += 1)
    await store.counters.charge({ ...expiring, item: `old${index}` }, createToken());
  await store.counters.charge({ ...window, minute }, createToken());
  const budget = { amount: 100, window: 'day', period: 'd1', resetAt: noon - 86_400_000 + 1, reserve: 1 } as const;
  await store.counters.charge({ ...window, minute: minute + 60, item: 'spender', budget }, createToken());
  await adminStore.keys.link('network', { member: 'ada', linkedAt: 0, expiresAt: noon + 1 });
  await adminStore.keys.link('lasting', { member: 'ada', linkedAt: 0, expiresAt: noon + 3_600_000 * 2 });
  const database = new DatabaseSync(pathOf('gateway.db'));
  const count = (table: string) => Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows);
  const tables = ['requests', 'bursts', 'tokens', 'budgets', 'reservations', 'links'];
  expect(tables.map(count)).toEqual([7, 7, 7, 1, 1, 2]);
  const sweep = createSweep(database);
  sweep(noon, 100);
  expect(tables.map(count)).toEqual([7, 7, 7, 1, 1, 2]);
  expect([sweep(noon + 3_600_000, 4), sweep(noon + 3_600_000, 4), sweep(noon + 3_600_000, 4)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(tables.map(count)).toEqual([2, 1, 1, 0, 0, 1]);
  database.close();
  await close();
});

test('tables of an earlier version are brought forward, all the way or not at all, whoever does it at once', () => {
  const database = new DatabaseSync(pathOf('gateway.db'));
  const versions = [
    'CREATE TABLE one (a INTEGER)',
    'ALTER TABLE one ADD COLUMN b TEXT',
    'ALTER TABLE none ADD COLUMN c',
  ];
  migrate(database, versions.slice(0, 1));
  database.exec('INSERT INTO one VALUES (7)');
  migrate(database, versions.slice(0, 2));
  migrate(database, versions.slice(0, 2));
  const state = () => [versionOf(database), database.prepare('SELECT * FROM one').all()];
  expect(state()).toEqual([2, [{ a: 7, b: null }]]);
  expect(() => migrate(database, versions)).toThrow('no such table: none');
  expect(state()).toEqual([2, [{ a: 7, b: null }]]);
  database.close();
});
