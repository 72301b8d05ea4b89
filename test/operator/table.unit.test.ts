import { expect, test } from '@jest/globals';
import { count, renderPairs, renderTable, showTime } from '../../operator/table.ts';

test('columns are as wide as their widest cell, and lines have no trailing blanks', () => {
  const rows = [
    ['a', 'long cell', ''],
    ['😀b', 'x', 'y'],
  ];
  expect(renderTable(['ID', 'B', 'C'], rows)).toBe(
    ['ID  B          C', 'a   long cell', '😀b  x          y'].join('\n'),
  );
  expect(renderTable(['ID', 'B'], [])).toBe('ID  B');
});

test('pairs are printed one below the other', () => {
  expect(renderPairs({ id: '1', member: 'ada', label: '' })).toBe('id      1\nmember  ada\nlabel');
});

test('what stands in a table moves no cursor and turns no line round', () => {
  const text = 'a\u001b[2Jb\n\u009b\u202ec';
  expect(renderTable(['ID'], [[text]])).toBe('ID\na?[2Jb???c');
  expect(renderPairs({ label: text })).toBe('label  a?[2Jb???c');
});

test('one is not several', () => {
  expect([0, 1, 2].map((number) => count(number, 'key'))).toEqual(['0 keys', '1 key', '2 keys']);
  expect([1, 2].map((number) => count(number, 'child', 'children'))).toEqual(['1 child', '2 children']);
});

test('times are in UTC', () => {
  expect(showTime(Date.parse('2026-11-21T14:05:59Z'))).toBe('2026-11-21 14:05 UTC');
});
