import { chmodSync, existsSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { keepFirstKey } from '../../../lambda/store/first-key.ts';

test('the first key goes into a private file of its own, whatever was put in its place', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-first-key-'));
  const [path, elsewhere] = ['first-key', 'elsewhere'].map((name) => join(folder.path, name)) as [string, string];
  const plantLink = () => {
    renameSync(path, join(folder.path, 'before'));
    symlinkSync(elsewhere, path);
  };
  for (const plant of [() => {}, () => chmodSync(path, 0o666), plantLink]) {
    plant();
    expect(keepFirstKey('ltk_key', folder.path)).toBe(path);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['ltk_key\n', 0o600]);
  }
  expect(existsSync(elsewhere)).toBe(false);
});
