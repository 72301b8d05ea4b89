import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

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

test('the line that rolls back deploys unless the diff is refused or could not be made', () => {
  const [, section = ''] = /^## Rolling back\n([\s\S]+?)^## /m.exec(read('docs/operations.md')) ?? [];
  const [, line = ''] = /```bash\n([^`]+)/.exec(section) ?? [];
  expect(line).toMatch(/^git restore --source GOOD --staged --worktree \. && git commit --allow-empty /);
  // After that commit, the last but one is what is deployed.
  expect(line).toContain('npm run --silent diff -- --stage prod --base HEAD~1 ');
  const printed = ['nothing dangerous', 'no diff could be made', 'something dangerous', 'refused'].map((diff, code) => {
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
  ]);
});
