import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../lambda/store/counters.ts';
import { openSqliteStore } from '../../../lambda/store/sqlite/store.ts';
import { startKeysProgram } from './keys-program.ts';

const program = await startKeysProgram();
afterAll(program.close);
beforeAll(() => program.target.keys.put('hash', { id: 'key_a', member: 'ada', createdAt: 1 }));

const opening = { now: Date.now, serves: true };
const window = { item: 'member#ada', period: 1, limit: 1_000, burst: 1_000, minute: 1 };

test('a backup of a folder in use holds all that was answered before it, for its user alone', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-backup-'));
  const [dataDir, restored, path] = ['data', 'restored', 'backup.db'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const { store, close } = await openSqliteStore(dataDir, opening);
  const chargeMany = () => Promise.all(Array.from({ length: 50 }, () => store.counters.charge(window, createToken())));
  await chargeMany();
  const [said] = await Promise.all([program.runOn({ dataDir }, 'backup', path), chargeMany()]);
  expect(said).toMatch(new RegExp(`^${path} holds all of ${dataDir}: \\d+ bytes`));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await expect(program.runOn({ dataDir }, 'backup', path)).rejects.toThrow(`${path} is there already: name a new file`);

  // As docs/recovery.md has it.
  mkdirSync(restored);
  copyFileSync(path, join(restored, 'gateway.db'));
  const { store: other, close: closeOther } = await openSqliteStore(restored, opening);
  const { used } = await other.counters.read(window);
  expect([used >= 50, used <= 100]).toEqual([true, true]);
  await Promise.all([close(), closeOther()]);
});

test('what can’t be backed up leaves no file behind', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-backup-'));
  writeFileSync(join(folder.path, 'gateway.db'), 'no database');
  await expect(program.runOn({ dataDir: folder.path }, 'backup', join(folder.path, 'backup.db'))).rejects.toThrow(
    'file is not a database',
  );
  expect(readdirSync(folder.path)).toEqual(['gateway.db']);
  await expect(program.run('backup', join(folder.path, 'backup.db'))).rejects.toThrow('backup is for a DATA_DIR');
});
