import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createCheckout } from '../support/checkout.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const filesIn = (folder: string, end: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));

test('the npm scripts that pages and workflows name exist', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const named = [
    'README.md',
    ...filesIn('docs', '.md').filter((path) => !path.endsWith('CHANGELOG.md')),
    ...filesIn('.github/workflows', '.yml'),
  ].flatMap((file) =>
    [...read(file).matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => ({ file, name })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([]);
});

/** The first commands of the section on rolling back. */
function readRollback(): string {
  const [, section = ''] = /^## Rolling back\n([\s\S]+?)^## /m.exec(read('docs/operations.md')) ?? [];
  return /```bash\n([^`]+)/.exec(section)?.[1] ?? '';
}

test('rolling back keeps the settings, which the commit may lack, and restores all else', () => {
  const { folder, git, remove } = createCheckout(['package.json', 'cdk.json']);
  const at = (file: string) => join(folder, file);
  rmSync(at('cdk.json'));
  for (const file of ['gateway.json', 'package.json', 'new.ts']) writeFileSync(at(file), 'today’s');
  git('add', '--update');
  git('add', 'gateway.json', 'new.ts');
  git('commit', '--quiet', '--message', 'later');
  const [restore = ''] = readRollback().replace('GOOD', 'HEAD~1').split(' && ');
  const { status, stderr } = spawnSync('bash', ['-c', restore], { cwd: folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(readdirSync(folder).sort()).toEqual(['.git', 'cdk.json', 'gateway.json', 'node_modules', 'package.json']);
  expect([read(at('gateway.json')), read(at('package.json'))]).toEqual(['today’s', read('package.json')]);
  remove();
});

test('the line that rolls back deploys unless the diff is refused or could not be made', () => {
  const line = readRollback();
  expect(line).toMatch(/^git restore --source GOOD .* && git commit --allow-empty /);
  // After that commit, the last but one is what is deployed.
  expect(line).toContain('npm run --silent diff -- --stage prod --base HEAD~1 ');
  const printed = [
    'nothing dangerous',
    'no diff could be made',
    'something dangerous',
    'refused',
    'settings not compared',
  ].map((diff, code) => {
    const commands = `git() { :; }; npx() { echo "$@"; }; npm() { [ "$1" = ci ] || return ${code}; }`;
    return [
      diff,
      spawnSync('bash', ['--noprofile', '--norc', '-c', `${commands}\n${line}`], { encoding: 'utf8' }).stdout,
    ];
  });
  const deploys = 'cdk deploy -c stage=prod\n';
  expect(printed).toEqual([
    ['nothing dangerous', deploys],
    ['no diff could be made', ''],
    ['something dangerous', deploys],
    ['refused', ''],
    ['settings not compared', ''],
  ]);
});
