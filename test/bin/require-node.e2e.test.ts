import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import packageJson from '../../package.json' with { type: 'json' };

let checkout = '';
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
  for (const path of ['package.json', 'bin']) cpSync(path, join(checkout, path), { recursive: true });
});
afterEach(() => rmSync(checkout, { recursive: true }));

const start = (NODE_OPTIONS = '') => {
  const env = { PATH: process.env.PATH ?? '', NODE_OPTIONS };
  const { status, stderr } = spawnSync('npm', ['--silent', 'start'], { cwd: checkout, env, encoding: 'utf8' });
  return { status, said: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm warn')) };
};

test('before npm ci, says so in one sentence', () => {
  expect(start()).toEqual({ status: 1, said: [expect.stringMatching(/^Run npm ci first: .*\.$/)] });
});

test('with an older Node, says so in one sentence', () => {
  mkdirSync(join(checkout, 'node_modules'));
  writeFileSync(join(checkout, 'node_modules/.package-lock.json'), '{}');
  const older = join(checkout, 'older.cjs');
  writeFileSync(older, `Object.defineProperty(process, 'versions', { value: { node: '20.11.0' } });`);
  expect(start(`-r ${older}`)).toEqual({
    status: 1,
    said: [expect.stringMatching(/^This needs Node 24 or newer, not 20\.11\.0\. On Linux npm ci installs one, /)],
  });
});

test('no command is without that check', () => {
  const commands = Object.values(packageJson.scripts).filter((command) => command.includes('bin/'));
  const unchecked = commands.filter((command) => /bin\/\w+\.ts/.test(command) && !command.includes('require-node.cjs'));
  expect([commands.length > 8, unchecked]).toEqual([true, []]);
});
