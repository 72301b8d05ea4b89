import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

interface Slow {
  readonly name: string;
  readonly ms: number;
}

test('no request of 6 MiB keeps others waiting for 50 ms', () => {
  const output = execFileSync(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'ticks.ts'),
  ]);
  const { tried, slowest }: { tried: number; slowest: readonly Slow[] } = JSON.parse(String(output));
  const told = slowest.slice(0, 10).map(({ ms, name }) => `${ms.toFixed(1)} ms  ${name}`);
  console.log(`${tried} bodies; the longest ticks:\n${told.join('\n')}`);
  expect(tried).toBeGreaterThan(4_000);
  expect(slowest.filter(({ ms }) => ms >= 50)).toEqual([]);
}, 1_200_000);
