import { expect, test } from '@jest/globals';
import { renderPairs, renderTable, showText, showTime } from '../../../operator/keys/table.ts';

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

test('times are in UTC, and control characters can’t move the cursor', () => {
  expect(showTime(Date.parse('2026-11-21T14:05:59Z'))).toBe('2026-11-21 14:05 UTC');
  expect(showText('a\u001b[2Jb\n\u009bc')).toBe('a?[2Jb??c');
});
