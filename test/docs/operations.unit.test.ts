import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const pages = ['deploy', 'operations', 'recovery', 'hosting', 'CONTRIBUTING'] as const;
const read = (path: string) => readFileSync(path, 'utf8');
const workflows = readdirSync('.github/workflows').map((file) => read(`.github/workflows/${file}`));

test.each(pages)('the commands of docs/%s.md exist', (page) => {
  const { scripts } = JSON.parse(read('package.json'));
  const named = [...read(`docs/${page}.md`).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name);
  expect(named).not.toEqual([]);
  for (const name of named) expect(scripts).toHaveProperty([name]);
});

test.each([
  ['nothing dangerous', 0, true],
  ['something dangerous', 2, true],
  ['a diff that could not be made', 1, false],
  ['a refused change', 3, false],
])('the line that rolls back, if the diff finds %s', (_what, code, deploys) => {
  const [, section = ''] = /^## Rolling back\n([\s\S]+?)^## /m.exec(read('docs/operations.md')) ?? [];
  const [, line = ''] = /```bash\n([^`]+)/.exec(section) ?? [];
  // After the revert, the last commit but one is what is deployed.
  expect(line).toContain('npm run --silent diff -- --stage prod --base HEAD~1 ');
  expect(section).toMatch(/a role with \[policies\/deploy\.json\]/);
  expect(section).toMatch(/even what the diff finds dangerous/);
  const commands = `git() { :; }; npx() { echo "$@"; }; npm() { [ "$1" = ci ] || return ${code}; }`;
  const { stdout } = spawnSync('bash', ['--noprofile', '--norc', '-c', `${commands}\n${line}`], { encoding: 'utf8' });
  expect(stdout).toBe(deploys ? 'cdk deploy -c stage=prod\n' : '');
});

test('the workflows know the stages, and run existing scripts', () => {
  const deploy = read('.github/workflows/deploy.yml');
  const { gateway } = JSON.parse(read('cdk.json')).context;
  const [, options = ''] = /options: \[(.+)\]/.exec(deploy) ?? [];
  expect(options.split(', ')).toEqual(Object.keys(gateway.stages));
  const { scripts } = JSON.parse(read('package.json'));
  expect(workflows.length).toBeGreaterThan(2);
  for (const [, name = ''] of workflows.join('').matchAll(/npm run (?:--silent )?([\w:]+)/g)) {
    expect(scripts).toHaveProperty([name]);
  }
});

test('every job of the workflows declares its permissions', () => {
  for (const workflow of workflows) {
    const [head = '', jobs = ''] = workflow.split(/^jobs:$/m);
    expect(head).toMatch(/^permissions: \{\}$/m);
    const blocks = jobs.split(/^ {2}(?=[a-z]+:$)/m).slice(1);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(block).toMatch(/^ {4}permissions:/m);
  }
});

test('actions are pinned by digest, with the version beside it, the same everywhere', () => {
  const used = [...workflows.join('').matchAll(/uses: (\S+?)@(.+)/g)].map(([, name = '', version = '']) => ({
    name,
    version,
  }));
  expect(used.length).toBeGreaterThan(5);
  for (const { version } of used) expect(version).toMatch(/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const names = new Set(used.map(({ name }) => name));
  expect(new Set(used.map(({ name, version }) => name + version)).size).toBe(names.size);
});

test('no text by outsiders becomes part of a script', () => {
  for (const workflow of workflows) {
    const scripts = [...workflow.matchAll(/run: (?:\|\n((?: {10}.*\n|\n)+)|(.*))/g)];
    expect(scripts.length).toBeGreaterThan(2);
    for (const [, block = '', line = ''] of scripts) expect(block + line).not.toContain('${{');
  }
});

test('the job that a branch rule requires is never skipped, as that would let everything pass', () => {
  expect(read('.github/workflows/ci.yml')).toMatch(/\n {2}infrastructure:\n(?: {4}#.*\n)* {4}if: always\(\) && /);
});
