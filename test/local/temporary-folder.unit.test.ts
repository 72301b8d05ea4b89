import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { makeTemporaryFolder } from '../../local/temporary-folder.ts';

test('a temporary folder is private, goes when it is no longer needed, and takes those of killed processes with it', async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), 'gateway-test-'));
  const [alive, ended] = [process.pid, spawnSync('true').pid];
  const others = [`private-inference-gateway-data-${alive}-b`, 'private-inference-gateway-0', 'data-1'];
  for (const name of [...others, `private-inference-gateway-data-${ended}-a`]) mkdirSync(join(parent.path, name));
  const folder = makeTemporaryFolder(parent.path);
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  expect(readdirSync(parent.path)).toHaveLength(others.length + 1);
  folder[Symbol.dispose]();
  expect(existsSync(folder.path)).toBe(false);
  expect(readdirSync(parent.path)).toEqual(others.toSorted());
});
