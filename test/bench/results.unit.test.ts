import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import type { Figure } from '../../bench/figures.ts';
import { addSamples, type Results, renderTable, toRow } from '../../bench/results.ts';

const figure = (goal?: Figure['goal']): Figure => ({
  ...{ title: 'a prompt', unit: 'ms', measurement: 'prompt', sample: 'processor' },
  ...(goal && { goal }),
});

function resultsOf(bare: number[], bareDynamoDb: number[], gateway: number[]): Results {
  const results: Results = new Map();
  for (const value of bare) addSamples(results, 'prompt', 'bare', { processor: [value] });
  addSamples(results, 'prompt', 'bareDynamoDb', { processor: bareDynamoDb });
  addSamples(results, 'prompt', 'gateway', { processor: gateway });
  return results;
}

test('a row of the bench holds medians, their ratios to both baselines, and whether its goal is met', () => {
  const results = resultsOf([4, 1, 2], [4], [3, 3, 100]);
  const measured = ['a prompt', 'ms', '2.00', '4.00', '3.00', '1.50', '0.75'];
  const goals: readonly [goal: Figure['goal'], shown: string][] = [
    [undefined, ''],
    [{ to: 'bare', bound: 1.5 }, '≤ 1.5 × bare ✓'],
    [{ to: 'bare', bound: 1.4 }, '≤ 1.4 × bare ✗'],
    [{ to: 'bare', bound: 1.5, atLeast: true }, '≥ 1.5 × bare ✓'],
    [{ to: 'bare', bound: 1.6, atLeast: true }, '≥ 1.6 × bare ✗'],
    [{ to: 'bareDynamoDb', bound: 0.75 }, '≤ 0.75 × bare + DynamoDB ✓'],
    [{ to: 'bareDynamoDb', bound: 0.7 }, '≤ 0.7 × bare + DynamoDB ✗'],
    [{ bound: 3 }, '≤ 3 ms ✓'],
    [{ bound: 2 }, '≤ 2 ms ✗'],
  ];
  for (const [goal, shown] of goals) {
    const met = shown === '' ? undefined : shown.endsWith('✓');
    expect(toRow(figure(goal), results)).toEqual({ cells: [...measured, shown], met });
  }
});

test('a figure that was not measured has no row, one without baselines no ratios, and three digits count', () => {
  const results = resultsOf([0.012_34], [123.456], [12_345.6]);
  expect(toRow({ ...figure(), sample: 'another' }, results)).toBeUndefined();
  expect(toRow(figure(), results)?.cells.slice(2, 5)).toEqual(['0.012', '123', '12346']);
  addSamples(results, 'busy-caller', 'gateway', { ratio: [1.04] });
  const alone = toRow({ ...figure({ bound: 1.1 }), unit: '×', measurement: 'busy-caller', sample: 'ratio' }, results);
  expect(alone?.cells.slice(1)).toEqual(['×', '', '', '1.04', '', '', '≤ 1.1 × ✓']);
  const [title, rule, row] = renderTable(alone ? [alone] : []).split('\n');
  expect([title, rule, row].map((line) => line?.length)).toEqual(Array(3).fill(title?.length));
});

test('the command explains itself, on request and after mistakes', () => {
  const run = (...words: string[]) => spawnSync(process.execPath, ['bench/run.ts', ...words], { encoding: 'utf8' });
  const asked = run('--help');
  expect([asked.status, asked.stderr]).toEqual([0, '']);
  const mistakes: readonly [words: string[], message: string][] = [
    [['--only', 'size', '--only', 'event'], 'no such measurement: event'],
    [['--rounds', '0'], '--rounds takes a number from 1'],
    [['events'], "Unexpected argument 'events'"],
  ];
  for (const [words, message] of mistakes) {
    const { status, stdout, stderr } = run(...words);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(stderr).toContain(asked.stdout);
  }
});
