import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { candidatesIn } from './candidates.ts';
import { runTests } from './run-tests.ts';

const path = 'lambda/upstream/failover.ts';
const tests = ['test/lambda/upstream/retry-after.unit.test.ts'];
const source = readFileSync(path, 'utf8');

test('a planted defect is in the code that the tests run, but in no file', async () => {
  const defect = candidatesIn(path, source).find(({ name }) => name.includes('<= -> <'))?.defect;
  expect(defect).toBeDefined();
  expect(await runTests(tests)).toEqual({ outcome: 'passed' });
  expect(await runTests(tests, path, defect)).toEqual({ outcome: 'failed', test: tests[0] });
  expect(await runTests(tests, 'lambda/upstream/pool.ts', defect)).toEqual({ outcome: 'passed' });
  expect(readFileSync(path, 'utf8')).toBe(source);
});

test('the command reports the fate of each', () => {
  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['test/mutate/mutate.ts', ...words]);
    return { status, stdout: String(stdout), stderr: String(stderr) };
  };
  const tried = run(path, '--sample', '1', '--seed', '3');
  expect(tried.stderr).toBe('');
  expect(tried.stdout).toMatch(
    /^1\/1 {2}lambda\/upstream\/failover\.ts:\d+:\d+ {2}.* {2}noticed by test\/.*\n\nseed 3: 1 defects, 1 noticed \(100\.0 %\)/,
  );
  expect(tried.status).toBe(0);
  expect(run()).toMatchObject({ status: 2, stderr: expect.stringMatching(/^no PATH was given\n\nnpm run mutate/) });
  expect(run('nowhere').status).toBe(2);
});
