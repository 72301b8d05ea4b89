import { describe, expect, test } from '@jest/globals';
import type { Figure } from '../../bench/figures.ts';
import { renderOrigin, renderSpreads, renderTable } from '../../bench/report/table.ts';
import { addSamples, emptyResults, type Row, toRow } from '../../bench/results.ts';

const figure = (goal?: Figure['goal']): Figure => ({
  title: 'a prompt',
  unit: 'ms',
  measurement: 'prompt',
  sample: 'processor',
  ...(goal && { goal }),
});

function resultsOf(bare: number[], bareDynamoDb: number[], gateway: number[]) {
  const results = emptyResults(new Date('2026-11-21T12:00:00Z'));
  for (const value of bare) addSamples(results, 'prompt', 'bare', { processor: [value] });
  addSamples(results, 'prompt', 'bareDynamoDb', { processor: bareDynamoDb });
  addSamples(results, 'prompt', 'gateway', { processor: gateway });
  return results;
}

describe('a row of the bench', () => {
  const results = resultsOf([4, 1, 2], [4], [3, 3, 100]);

  test('holds medians, and their ratios to both baselines', () => {
    expect(toRow(figure(), results)).toMatchObject({
      values: { bare: 2, bareDynamoDb: 4, gateway: 3 },
      ratios: { bare: 1.5, bareDynamoDb: 0.75 },
      met: undefined,
    });
  });

  test.each<[goal: Figure['goal'], met: boolean]>([
    [{ to: 'bare', atMost: 1.5 }, true],
    [{ to: 'bare', atMost: 1.4 }, false],
    [{ to: 'bare', atLeast: 1.5 }, true],
    [{ to: 'bare', atLeast: 1.6 }, false],
    [{ to: 'bareDynamoDb', atMost: 0.75 }, true],
    [{ to: 'bareDynamoDb', atMost: 0.7 }, false],
    [{ to: 'nothing', atMost: 3 }, true],
    [{ to: 'nothing', atMost: 2 }, false],
  ])('of the goal %j is met: %s', (goal, met) => {
    const row = toRow(figure(goal), results) as Row;
    expect(row.met).toBe(met);
    expect(renderTable([row], true)).toMatch(met ? /✓ \|$/ : /✗ \|$/);
    expect(renderTable([row], false)).not.toMatch(/[✓✗]/);
  });

  test('is left out if the run did not measure it', () => {
    expect(toRow({ ...figure(), measurement: 'events' }, results)).toBeUndefined();
    expect(toRow({ ...figure(), sample: 'another' }, results)).toBeUndefined();
  });
});

test('a figure without baselines has none in its row', () => {
  const results = emptyResults(new Date('2026-11-21T12:00:00Z'));
  addSamples(results, 'busy-caller', 'gateway', { ratio: [1.04] });
  const goal = { to: 'nothing', atMost: 1.1 } as const;
  const row = toRow({ ...figure(goal), unit: '×', measurement: 'busy-caller', sample: 'ratio' }, results) as Row;
  expect(row.met).toBe(true);
  expect(renderTable([row], true).split('\n').at(-1)).toMatch(/\| × +\| +\| +\| +1\.04 \| +\| +\| +≤ 1\.1 × ✓ \|/);
});

test('figures show three digits that count', () => {
  const row = toRow(figure(), resultsOf([0.012_34], [123.456], [12_345.6])) as Row;
  expect(renderTable([row], false).split('\n').at(-1)).toMatch(/\| +0\.012 \| +123 \| +12346 \|/);
});

test('the figures say where they were measured, and with which versions', () => {
  const [where, versions] = renderOrigin(resultsOf([1], [1], [1])).split('\n');
  expect(where).toMatch(/^`npm run bench.*`, 2026-11-21, \d+ × /);
  expect(versions).toMatch(
    /^Node v24\.\S+, esbuild \d\S+, @aws-sdk\/client-dynamodb \d\S+, aws-lambda-ric \d+\.\d+\.\d+$/,
  );
});

test('a row that spreads says why', () => {
  const row = (spread?: string): Row => ({
    figure: { ...figure(), ...(spread !== undefined && { spread }) },
    values: { bare: 1, bareDynamoDb: 1, gateway: 1 },
    ratios: { bare: 1, bareDynamoDb: 1 },
    met: undefined,
  });
  expect(renderSpreads([row()])).toBe('');
  expect(renderSpreads([row('a reason'), row()])).toContain('- a prompt: a reason.\n');
});
