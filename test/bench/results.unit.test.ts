import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import type { Figure, Goal } from '../../bench/measurement.ts';
import { addSamples, type Results, renderTable, toRow } from '../../bench/results.ts';

const figure = (goal?: Goal): Figure => ['a prompt', 'ms', 'processor', goal];

function resultsOf(bare: number[], bareDynamoDb: number[], gateway: number[], portkey: number[] = []): Results {
  const results: Results = new Map();
  for (const value of bare) addSamples(results, 'bare', { processor: [value] });
  addSamples(results, 'bareDynamoDb', { processor: bareDynamoDb });
  addSamples(results, 'gateway', { processor: gateway });
  addSamples(results, 'portkey', { processor: portkey });
  return results;
}

test('a row of the bench holds medians, their ratios to the baselines, and whether its goal is met', () => {
  const results = resultsOf([4, 1, 2], [4], [3, 3, 100], [6]);
  const measured = ['a prompt', 'ms', '2.00', '4.00', '6.00', '3.00', '1.50', '0.75', '0.50'];
  const goals: readonly [goal: Goal | undefined, shown: string][] = [
    [undefined, ''],
    [{ to: 'bare', bound: 1.5 }, '≤ 1.5 × bare ✓'],
    [{ to: 'bare', bound: 1.4 }, '≤ 1.4 × bare ✗'],
    [{ to: 'bareDynamoDb', bound: 0.75 }, '≤ 0.75 × bare + DynamoDB ✓'],
    [{ to: 'bareDynamoDb', bound: 0.7 }, '≤ 0.7 × bare + DynamoDB ✗'],
    [{ to: 'portkey', bound: 0.5 }, '≤ 0.5 × Portkey ✓'],
    [{ bound: 3 }, '≤ 3 ms ✓'],
    [{ bound: 2 }, '≤ 2 ms ✗'],
  ];
  for (const [goal, shown] of goals) {
    const met = shown === '' ? undefined : shown.endsWith('✓');
    expect(toRow(figure(goal), results)).toEqual({ cells: [...measured, shown], met });
  }
});

test('a figure without baselines has no ratios, and three digits count', () => {
  const results = resultsOf([0.012_34], [123.456], [12_345.6]);
  expect(toRow(figure(), results).cells.slice(2, 6)).toEqual(['0.012', '123', '', '12346']);
  addSamples(results, 'gateway', { ratio: [1.04] });
  const alone = toRow(['busy to calm', '×', 'ratio', { bound: 1.1 }], results);
  expect(alone.cells.slice(1)).toEqual(['×', '', '', '', '1.04', '', '', '', '≤ 1.1 × ✓']);
  const [title, rule, row] = renderTable([alone]).split('\n');
  expect([title, rule, row].map((line) => line?.length)).toEqual(Array(3).fill(title?.length));
});

test('the command prints its usage, on request and after mistakes', () => {
  const run = (...words: string[]) => spawnSync(process.execPath, ['bench/run.ts', ...words], { encoding: 'utf8' });
  const asked = run('--help');
  expect([asked.status, asked.stderr]).toEqual([0, '']);
  for (const [words, message] of [
    [['--only', 'size', '--only', 'event'], "'event' is invalid. Allowed choices are size, cold-start,"],
    [['events'], 'too many arguments'],
  ] as const) {
    const { status, stdout, stderr } = run(...words);
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    expect(stderr).toContain(asked.stdout);
  }
});
