import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { createCheckout } from '../support/checkout.ts';
import { editFile } from '../support/edit-file.ts';

jest.setTimeout(120_000);

const sources = ['bin', 'lib', 'lambda', 'operator', 'docs/openapi.json', 'cdk.json'];
const { folder, git, remove } = createCheckout([...sources, 'package.json', 'package-lock.json']);
const command = join(process.cwd(), 'bin/diff.ts');
const TMPDIR = mkdtempSync(join(tmpdir(), 'diff-test-'));
const env = { ...process.env, TMPDIR, AWS_PROFILE: '', https_proxy: 'http://127.0.0.1:9' };
writeFileSync(join(folder, 'gateway.json'), '{"stages": {"mine": {"GUEST_LIMIT": 3}}}');
git('add', 'gateway.json');
git('commit', '--quiet', '--message', 'own settings');

afterEach(() => {
  git('checkout', '--quiet', '.');
  // However it ended, no temporary file is left.
  expect(readdirSync(TMPDIR)).toEqual([]);
});
afterAll(() => {
  remove();
  rmSync(TMPDIR, { recursive: true });
});

const diff = (...words: string[]) =>
  spawnSync(process.execPath, [command, ...words], { cwd: folder, env, encoding: 'utf8' });

test('three typical changes are exactly three lines, one of them in the operator’s own settings, which a commit has', () => {
  editFile(join(folder, 'gateway.json'), '"GUEST_LIMIT": 3', '"GUEST_LIMIT": 5');
  editFile(
    join(folder, 'cdk.json'),
    '"defaults": {',
    '"defaults": { "memorySize": 1024, "MODEL_ALIASES": "gpt-*=svc",',
  );
  const { status, stdout, stderr } = diff('--stage', 'mine');
  const [title, ...lines] = stdout.trimEnd().split('\n');
  expect(stderr).toBe('');
  expect(lines.sort()).toEqual([
    '~ Gateway/Function, Wallet/Function: Environment.Variables.GUEST_LIMIT "3" -> "5"',
    '~ Gateway/Function: Environment.Variables.MODEL_ALIASES none -> "gpt-*=svc"',
    '~ Gateway/Function: MemorySize 512 -> 1024',
  ]);
  expect(title).toMatch(/^Stage mine: the working tree against HEAD \([0-9a-f]{7}\)$/);
  expect(status).toBe(0);
});

test('a danger ends it with 2, here of a stage that is new', () => {
  const synthesized = join(folder, 'dist');
  mkdirSync(synthesized);
  const artifact = { type: 'aws:cloudformation:stack', properties: { templateFile: 'Main.template.json' } };
  writeFileSync(join(synthesized, 'manifest.json'), JSON.stringify({ artifacts: { Main: artifact } }));
  const Resources = { Keys: { Type: 'AWS::DynamoDB::GlobalTable', Properties: {} } };
  writeFileSync(join(synthesized, 'Main.template.json'), JSON.stringify({ Resources }));
  const { status, stdout, stderr } = diff('--stage', 'new', '--synthesized', synthesized);
  expect([status, stderr]).toEqual([2, '']);
  expect(stdout).toMatch(/^!! DANGER /m);
});

test('a failure ends it with 1 and says why', () => {
  editFile(join(folder, 'cdk.json'), 'node bin/gateway.ts', "echo 'one setting is wrong' >&2; exit 1");
  expect(diff('--stage', 'mine')).toMatchObject({ status: 1, stdout: '', stderr: 'one setting is wrong\n' });
});

test('interrupted, it leaves no checkout behind', async () => {
  editFile(join(folder, 'cdk.json'), 'node bin/gateway.ts', 'sleep 3');
  const child = spawn(process.execPath, [command, '--stage', 'mine'], { cwd: folder, env, stdio: 'ignore' });
  const isUnderWay = () => readdirSync(TMPDIR).some((name) => name.startsWith('gateway-diff-'));
  while (!isUnderWay()) await wait(20);
  expect(readdirSync(TMPDIR)).toContainEqual(expect.stringMatching(/^gateway-base-/));
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([130, null]);
});
