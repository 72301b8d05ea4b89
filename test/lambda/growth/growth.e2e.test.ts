import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';

interface Measured {
  readonly name: string;
  readonly steps: readonly [number, number, number];
}

// Compiled code may count a block twice when it returns to the interpreter.
const interpreted = ['--no-opt', '--no-maglev', '--no-sparkplug', '--disable-warning=ExperimentalWarning'];

let measured: Measured[];

beforeAll(() => {
  const output = execFileSync(process.execPath, [...interpreted, join(import.meta.dirname, 'measure.ts')]);
  measured = String(output)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}, 600_000);

test('the work on any input grows in proportion to its size', () => {
  expect(measured.length).toBeGreaterThan(1500);
  // Sorting takes a little more than proportional work.
  const disproportionate = measured.filter(
    ({ steps: [once, twice, fourTimes] }) => !(once > 0 && twice <= 2.1 * once && fourTimes <= 2.1 * twice),
  );
  expect(disproportionate).toEqual([]);
});

test.each(['responses', 'messages'])(
  'a text for %s costs at most half as much again as one that is passed on',
  (name) => {
    const costOf = (client: string): number => {
      const one = measured.find((part) => part.name === `stream for ${client}, event by event: a word an event`);
      const [, twice, fourTimes] = one?.steps ?? [];
      return Number(fourTimes) - Number(twice);
    };
    expect(costOf('chat')).toBeGreaterThan(0);
    expect(costOf(name) / costOf('chat')).toBeLessThan(1.5);
  },
);
