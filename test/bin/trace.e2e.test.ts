import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { buildServerOnce } from '../support/build-server-once.ts';
import { createCheckout } from '../support/checkout.ts';

jest.setTimeout(60_000);

const {
  folder: checkout,
  git,
  remove,
} = createCheckout([
  ...['bin', 'lambda', 'lib', 'local', 'operator'],
  ...['docs/openapi.json', 'package.json', 'package-lock.json'],
]);
git('tag', 'deployed');
afterAll(remove);

const trace = (words: readonly string[], input: string) =>
  spawnSync(process.execPath, [join(process.cwd(), 'bin/trace.ts'), ...words], {
    cwd: checkout,
    encoding: 'utf8',
    input,
  });

/** The stack of an environment that can't start: it has no settings at all. */
function failToStart(folder: string): string {
  const { stderr } = spawnSync(process.execPath, ['index.mjs'], { cwd: folder, encoding: 'utf8', env: {} });
  const frames = stderr.split('\n').filter((line) => /^ +at /.test(line));
  return frames.join('\n').replaceAll(folder, '/var/task');
}

test('positions in the bundle become those in the sources of the deployed commit', () => {
  execFileSync(process.execPath, ['lib/bundle.ts', 'gateway'], { cwd: checkout });
  const written = failToStart(join(checkout, 'dist/gateway'));
  expect(written).toMatch(/\/var\/task\/[\w-]+\.mjs:\d+:\d+/);
  const source = join(checkout, 'lambda/settings/read-settings.ts');
  writeFileSync(source, `\n\n\n${readFileSync(source, 'utf8')}`);
  git('commit', '--quiet', '--all', '--message', 'later');

  const { status, stdout, stderr } = trace(['--commit', 'deployed'], written);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).not.toContain('/var/task');
  const [, line = ''] = /lambda\/settings\/read-settings\.ts:(\d+):\d+/.exec(stdout) ?? [];
  const before = readFileSync('lambda/settings/read-settings.ts', 'utf8').split('\n');
  expect(before[Number(line) - 1]).toContain('new ConfigError(faults)');
});

test('so do those in the server’s bundle, and positions from another build are reported', async () => {
  const entry = readFileSync(join(await buildServerOnce(), 'index.js'), 'utf8');
  const [, start] = /"\.\/(chunk-\w+\.js)"/.exec(entry) ?? [];
  const foreign = '{"at":["at x (file:///var/task/chunk-ABCDEFGH.mjs:1:10)"]}';
  const position = `at listen (file:///var/task/${start}:2:2000)`;
  const { status, stdout, stderr } = trace(['--commit', 'deployed', '--of', 'server', '-'], `${position}\n${foreign}`);
  const traced = /^at listen \((lambda|node_modules)\/[\w/.@-]+:\d+:\d+\)\n/;
  expect([status, stdout.trim()]).toEqual([0, expect.stringMatching(traced)]);
  expect(stdout).toContain(foreign);
  expect(stderr).toBe('chunk-ABCDEFGH.mjs: not of this build; try another --commit, or --of\n');
});

test('a commit that is not there is reported', () => {
  const said = 'error: there is no commit nowhere\n';
  expect(trace(['--commit', 'nowhere'], '')).toMatchObject({ status: 1, stderr: said });
});
