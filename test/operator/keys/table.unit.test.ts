import { expect, test } from '@jest/globals';
import { renderPairs, renderTable, showTime } from '../../../operator/keys/table.ts';

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

test('times are in UTC', () => {
  expect(showTime(Date.parse('2026-11-21T14:05:59Z'))).toBe('2026-11-21 14:05 UTC');
});
