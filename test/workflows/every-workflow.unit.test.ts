import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const read = (path: string) => readFileSync(path, 'utf8');
const workflows = readdirSync('.github/workflows').map((file) => read(`.github/workflows/${file}`));

test('each stage can be deployed', () => {
  const { gateway } = JSON.parse(read('cdk.json')).context;
  const [, options = ''] = /options: \[(.+)\]/.exec(read('.github/workflows/deploy.yml')) ?? [];
  expect(options.split(', ')).toEqual(Object.keys(gateway.stages));
});

test('every job declares its permissions', () => {
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

test('no untrusted text becomes part of a script', () => {
  for (const workflow of workflows) {
    const scripts = [...workflow.matchAll(/run: (?:\|\n((?: {10}.*\n|\n)+)|(.*))/g)];
    expect(scripts.length).toBeGreaterThan(2);
    for (const [, block = '', line = ''] of scripts) expect(block + line).not.toContain('${{');
  }
});
