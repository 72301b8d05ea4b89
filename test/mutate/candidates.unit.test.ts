import { expect, test } from '@jest/globals';
import { candidatesIn, listCandidates } from './candidates.ts';

test('a defect is named by its place and its change', () => {
  expect(candidatesIn('a.ts', 'const a = 1;\nf(a <\n  b);').map(({ name }) => name)).toEqual([
    'a.ts:1:11  1 -> 2',
    'a.ts:2:1  f(a < b); dropped',
    'a.ts:2:5  < -> <=',
  ]);
});

test('a seed always draws the same sample, sorted by place', () => {
  const all = listCandidates('test/mutate', undefined, 1);
  const sampled = listCandidates('./test/mutate/', 20, 1);
  expect(all.length).toBeGreaterThan(100);
  expect(sampled).toHaveLength(20);
  expect(sampled).toEqual(all.filter(({ name }) => sampled.some((one) => one.name === name)));
  expect(listCandidates('test/mutate', 20, 1)).toEqual(sampled);
  expect(listCandidates('test/mutate', 20, 2)).not.toEqual(sampled);
  expect(listCandidates('test/mutate/candidates.ts', 10_000, 1).length).toBeLessThan(all.length);
});
