import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

interface Measured {
  readonly name: string;
  readonly steps: readonly [number, number, number];
}

// Compiled code may count a block twice when it returns to the interpreter.
const interpreted = ['--no-opt', '--no-maglev', '--no-sparkplug', '--disable-warning=ExperimentalWarning'];

test('the work on any input grows in proportion to its size', () => {
  const output = execFileSync(process.execPath, [...interpreted, join(import.meta.dirname, 'measure.ts')]);
  const measured: Measured[] = String(output)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(measured.length).toBeGreaterThan(1500);
  // Sorting takes a little more than proportional work.
  const disproportionate = measured.filter(
    ({ steps: [once, twice, fourTimes] }) => !(once > 0 && twice <= 2.1 * once && fourTimes <= 2.1 * twice),
  );
  expect(disproportionate).toEqual([]);
});
