import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { allDialects } from './read-request.ts';

interface Printed {
  readonly name: string;
  readonly steps?: number;
  readonly missing?: readonly string[];
}

// Compiled code may count a block twice when it returns to the interpreter.
const interpreted = ['--no-opt', '--no-maglev', '--no-sparkplug', '--disable-warning=ExperimentalWarning'];
let printed: readonly Printed[];

beforeAll(() => {
  const output = execFileSync(process.execPath, [...interpreted, join(import.meta.dirname, 'pauses.ts')]);
  printed = String(output)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}, 600_000);

test('whatever a request holds, others get their turn: nothing takes twice as long without a pause as the densest text', () => {
  const [scan, ...bodies] = printed.filter(({ steps }) => steps !== undefined);
  expect(bodies.length).toBeGreaterThan(500);
  const most = 2 * (scan?.steps ?? 0);
  expect(bodies.filter(({ steps = 0 }) => !(steps > 0 && steps < most))).toEqual([]);
});

test('every member that a reader looks for stands in every-member.ts, where it is made slow', () => {
  const missing = printed.filter((one) => one.missing !== undefined);
  expect(missing).toEqual(allDialects.map(({ name }) => ({ name, missing: [] })));
});
