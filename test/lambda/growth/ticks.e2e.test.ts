import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';

interface Slow {
  readonly name: string;
  readonly ms: number;
}

interface Printed {
  readonly tried: number;
  readonly slowest: readonly Slow[];
  readonly answers: readonly Slow[];
}

let printed: Printed;

beforeAll(() => {
  const file = join(import.meta.dirname, 'ticks.ts');
  printed = JSON.parse(String(execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', file])));
}, 1_200_000);

const tellWorst = (all: readonly Slow[]) =>
  console.log(
    ['the longest ticks:', ...all.slice(0, 10).map(({ ms, name }) => `${ms.toFixed(1)} ms  ${name}`)].join('\n'),
  );

test('no request of 6 MiB keeps others waiting for 50 ms', () => {
  const { tried, slowest } = printed;
  tellWorst(slowest);
  expect(tried).toBeGreaterThan(4_000);
  expect(slowest.filter(({ ms }) => ms >= 50)).toEqual([]);
});

test('no plain answer of 8 MB keeps others waiting for 50 ms, passed on or translated', () => {
  const { answers } = printed;
  tellWorst(answers);
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter(({ ms }) => ms >= 50)).toEqual([]);
});
