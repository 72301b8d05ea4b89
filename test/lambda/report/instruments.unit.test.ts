import { expect, test } from '@jest/globals';
import { createCounter, createHistogram, createObservable } from '../../../lambda/report/instruments.ts';
import { readExposition, readValue } from '../../support/exposition.ts';
import { testRows } from '../../support/test-rows.ts';

test('a counter adds up each of its series, and without labels is there from the start', () => {
  const plain = createCounter('things_total', 'Things.');
  expect(plain.render()).toBe('# HELP things_total Things.\n# TYPE things_total counter\nthings_total 0');
  const labelled = createCounter('kinds_total', 'Kinds.', true);
  expect(labelled.render()).toBe('# HELP kinds_total Kinds.\n# TYPE kinds_total counter');
  labelled.add(1, { of: 'a' });
  labelled.add(2, { of: 'b' });
  labelled.add(0.5, { of: 'a' });
  expect(labelled.render()).toMatch(/\nkinds_total\{of="a"\} 1\.5\nkinds_total\{of="b"\} 2$/);
});

test('a histogram counts what is at most as large as each bound', () => {
  const histogram = createHistogram('waits_seconds', 'Waits.', [1, 2.5]);
  for (const value of [0, 1, 1.01, 2.5, 7]) histogram.observe(value, { at: 'x' });
  histogram.observe(3, {});
  const text = `${histogram.render()}\n`;
  const of = (part: string, labels = {}) => readValue(text, `waits_seconds${part}`, labels);
  expect([of('_bucket', { at: 'x', le: '1' }), of('_bucket', { at: 'x', le: '2.5' })]).toEqual([2, 4]);
  expect([of('_bucket', { at: 'x', le: '+Inf' }), of('_count', { at: 'x' }), of('_sum', { at: 'x' })]).toEqual([
    5, 5, 11.51,
  ]);
  expect([of('_bucket', { le: '2.5' }), of('_bucket', { le: '+Inf' }), of('_count')]).toEqual([0, 1, 1]);
});

test('what stands in a label is quoted, and an empty one is left out', () => {
  const counter = createCounter('odd_total', 'Odd.', true);
  counter.add(1, { a: '"\\\n', b: '' });
  expect(readValue(`${counter.render()}\n`, 'odd_total', { a: '"\\\n' })).toBe(1);
});

test('a gauge is read whenever somebody asks', () => {
  let level = 1;
  const gauge = createObservable('gauge', 'level', 'A level.', () => level);
  level = 2;
  expect(readValue(`${gauge.render()}\n`, 'level')).toBe(2);
  const several = createObservable('gauge', 'share_ratio', 'A share.', () => [[{ of: 'x' }, 0.5]]);
  expect(readValue(`${several.render()}\n`, 'share_ratio', { of: 'x' })).toBe(0.5);
});

// The reader of the tests has to be strict, or it shows nothing.
testRows([
  ['# HELP a_total A.\n# TYPE a_total counter\na_total 1', 'does not end'],
  ['# TYPE a_total counter\na_total 1\n', 'out of order'],
  ['# HELP a A.\n# TYPE a counter\na 1\n', '_total'],
  ['# HELP a A.\n# TYPE a gauge\nb 1\n', 'not of a'],
  ['# HELP a A.\n# TYPE a gauge\na 1\na 2\n', 'twice'],
  ['# HELP a A.\n# TYPE a gauge\na{x="1" 2\n', 'no sample'],
  ['# HELP a A.\n# TYPE a gauge\na{x=1} 2\n', 'no labels'],
  ['# HELP a A.\n# TYPE a gauge\na{x="1"y="2"} 2\n', 'no labels'],
  ['# HELP a A.\n# TYPE a gauge\na one\n', 'no sample'],
  ['# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n', 'no histogram'],
  ['# HELP a A.\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n', 'no histogram'],
  ['# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n', 'no histogram'],
])('what Prometheus would not take is not read', (text, why) => {
  expect(() => readExposition(text)).toThrow(why);
});
