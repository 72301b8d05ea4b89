import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSqliteStore } from '../../../../lambda/store/sqlite/store.ts';
import { chargeUntilKilled, expectNothingLost } from './charge-until-killed.ts';

test('a process that is killed loses nothing that it has answered, three times over', () => expectNothingLost(3));

test('two processes that are killed while they share a counter lose nothing, and pass no limit', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-kill-'));
  const answered = await chargeUntilKilled(folder.path, 'shared', 2, 1_000, 2_000);
  const { store, close } = await openSqliteStore(folder.path, { now: Date.now, serves: true });
  const { used } = await store.counters.read({ item: 'shared', period: 1, minute: 1 });
  expect(used).toBeGreaterThanOrEqual(answered);
  expect(used).toBeLessThanOrEqual(answered + 40);
  await close();
  // This time they end by themselves.
  const rest = await chargeUntilKilled(folder.path, 'shared', 2, Number.POSITIVE_INFINITY, 2_000);
  expect(rest).toBe(2_000 - used);
});

test('a process whose store’s thread ends does not live on without it, answers at once until it ends, and can close', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-kill-'));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'ended-thread.ts'), folder.path], { stdio: 'pipe' });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(errors.trimEnd().split('\n')).toEqual([
    'StoreError: the thread of the store has ended',
    'refused: StoreError: the process ends',
  ]);
});
