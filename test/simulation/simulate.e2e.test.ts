import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const simulate = (...words: string[]) =>
  promisify(execFile)(process.execPath, ['test/simulation/simulate.ts', ...words]).then(({ stdout }) => stdout);

test('a run ends with what came of it, in one line', async () => {
  expect(await simulate('--runs', '30', '--seed', '3')).toMatch(
    /\n30 worlds of seed 3 with \d+ requests, \d+ a second: all holds\n$/,
  );
});

test('a world is shown by its plan, event after event', async () => {
  const lines = await simulate('--world', '{"requests":[{"stream":true}]}');
  expect(lines).toMatch(/^\d+ client 0 begins$/m);
  expect(lines).toMatch(/^\d+ client 0 is done: whole$/m);
  expect(lines).toMatch(/\nall holds\n$/);
});

test('a planted defect is found by its name', async () => {
  expect(await simulate('--defects', 'a name across deltas')).toMatch(
    /^hiding: a name across deltas: \d+ "the same words"\n$/,
  );
});
