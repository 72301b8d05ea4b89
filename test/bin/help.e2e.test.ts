import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, jest, test } from '@jest/globals';

jest.setTimeout(120_000);

const run = promisify(execFile);
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What runs a program of this project, without npm: it takes half a second to start. */
const programs = Object.entries(scripts).flatMap(([name, script]) => {
  const [, words] = /^(?:exec )?node ((?:-r \S+ )?\S+\.ts)$/.exec(script) ?? [];
  return words === undefined || name.startsWith('pre') ? [] : [[name, words.split(' ')] as const];
});

test('every command says by --help what it is for, and does nothing', async () => {
  expect(programs.map(([name]) => name)).toEqual(expect.arrayContaining(['start', 'keys', 'build', 'agents', 'bench']));
  for (const [name, words] of programs) {
    const { stdout, stderr } = await run(process.execPath, [...words, '--help']);
    const usage = name === 'start' ? 'npm start\n\n' : `Usage: npm run ${name} -- `;
    expect([name, stdout.startsWith(usage), stderr]).toEqual([name, true, '']);
    expect(stdout.split('\n').length).toBeGreaterThan(5);
  }
});

test('a program that takes names says which there are', async () => {
  for (const program of ['lib/bundle.ts', 'test/agents/run.ts']) {
    const failure = await run(process.execPath, [program, 'nobody']).catch((error) => error);
    expect(failure).toMatchObject({
      stderr: expect.stringMatching(/'nobody' is invalid.*Allowed choices are [\w-]+, \w+/s),
    });
  }
});
