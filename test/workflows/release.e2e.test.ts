import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readWorkflow, runScript } from './workflow.ts';

const { text: workflow, scriptOf } = readWorkflow('release');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

beforeAll(() => {
  for (const tool of ['zip', 'unzip']) {
    if (spawnSync(tool, ['-v']).error) throw new Error(`this needs ${tool}: apt-get install -y ${tool}`);
  }
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (step: string, variables: Record<string, string>, cwd: string) =>
  runScript(scriptOf(step), { PATH: process.env.PATH ?? '', ...variables }, cwd);

/** A checkout with a build from this time. */
function prepare(name: string, time: number): string {
  const cwd = join(folder, name);
  for (const part of ['docs/CHANGELOG.md', 'package.json']) cpSync(part, join(cwd, part), { recursive: true });
  mkdirSync(join(cwd, 'dist/gateway'), { recursive: true });
  for (const file of ['dist/gateway/index.mjs', 'dist/b.js', 'dist/a.js']) {
    writeFileSync(join(cwd, file), `// ${file}`);
    utimesSync(join(cwd, file), time, time);
  }
  return cwd;
}

const pack = (cwd: string, tag = `v${version}`) => run('pack', { TAG: tag }, cwd);

describe('packing', () => {
  test('makes one archive of everything built, its checksum, and notes', () => {
    const cwd = prepare('one', 1_800_000_000);
    expect(pack(cwd)).toMatchObject({ status: 0, stderr: '' });
    const archive = `private-inference-gateway-${version}.zip`;
    expect(readdirSync(join(cwd, 'release')).toSorted()).toEqual(['SHA256SUMS', 'notes.md', archive].toSorted());
    const listed = spawnSync('unzip', ['-Z1', join(cwd, 'release', archive)], { encoding: 'utf8' }).stdout;
    expect(listed.trim().split('\n')).toEqual(['a.js', 'b.js', 'gateway/index.mjs']);
    const notes = readFileSync(join(cwd, 'release/notes.md'), 'utf8');
    const versions = readFileSync('docs/CHANGELOG.md', 'utf8').split(/^## /m);
    expect(versions).toContain(`${version}\n${notes}`);
  });

  test('gives the same bytes for the same files, whenever they were made', () => {
    const sums = [1_700_000_000, 1_800_000_000].map((time, index) => {
      const cwd = prepare(`${index}`, time);
      pack(cwd);
      return readFileSync(join(cwd, 'release/SHA256SUMS'), 'utf8');
    });
    expect(sums[0]).toMatch(/^[0-9a-f]{64} {2}private-inference-gateway-/);
    expect(sums[1]).toBe(sums[0]);
  });

  test.each([
    [`v${version}-rc1`, undefined, `The tag is v${version}-rc1, and package.json says ${version}.`],
    [`v${version}`, '# What changed\n', `docs/CHANGELOG.md says nothing about ${version}.`],
  ])('stops at %s with the changelog %j', (tag, changelog, told) => {
    const cwd = prepare('one', 1_800_000_000);
    if (changelog !== undefined) writeFileSync(join(cwd, 'docs/CHANGELOG.md'), changelog);
    const { status, stdout } = pack(cwd, tag);
    expect([status, stdout]).toEqual([1, `::error::${told}\n`]);
  });
});

describe('publishing', () => {
  /** A fake `gh` that prints its arguments. */
  const publish = (cwd: string) => {
    const gh = join(folder, 'gh');
    writeFileSync(gh, '#!/bin/sh\necho "$@"\n');
    chmodSync(gh, 0o755);
    return run('publish', { TAG: `v${version}`, PATH: `${folder}:${process.env.PATH}` }, cwd);
  };

  test('attaches the archive and the checksums to the tag', () => {
    const cwd = prepare('one', 1_800_000_000);
    pack(cwd);
    const files = `private-inference-gateway-${version}.zip SHA256SUMS`;
    expect(publish(join(cwd, 'release')).stdout).toBe(
      `release create v${version} --verify-tag --title v${version} --notes-file notes.md -- ${files}\n`,
    );
  });

  test('publishes only what was built', () => {
    const cwd = prepare('one', 1_800_000_000);
    pack(cwd);
    writeFileSync(join(cwd, `release/private-inference-gateway-${version}.zip`), 'something else');
    const { status, stdout } = publish(join(cwd, 'release'));
    expect([status, stdout.includes('release create')]).toEqual([1, false]);
  });

  test('is the only job that may write, and runs no code of the checkout', () => {
    const [, build = '', publishing = ''] = workflow.split(/^ {2}(?:build|publish):$/m);
    expect(build).toContain('contents: read');
    expect(build).not.toMatch(/: write/);
    expect(build).toMatch(/run: \.ci\/run\n[\s\S]*run: \.ci\/long\n[\s\S]*npm run --silent build\n/);
    expect(publishing).toMatch(/needs: build/);
    expect(publishing).not.toMatch(/checkout@|npm |node /);
    expect(workflow).toMatch(/^on:\n {2}push:\n {4}tags: \['v\*'\]\n\n/m);
  });
});
