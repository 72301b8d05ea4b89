import { expect, test } from '@jest/globals';
import { itemSize, writeUnits } from '../../../lambda/tables/table.ts';

test.each([
  ['a text', { S: 'naïve' }, 6],
  ['a number, two digits a byte', { N: '12345' }, 4],
  ['bytes that are one set', { BS: ['AAAAAAA=', 'AAA='] }, 3 + 6 + 3],
])('%s counts with its name', (_name, value, size) => {
  expect(itemSize({ four: value })).toBe(4 + size);
  expect(itemSize({ four: value, pk: { S: 'x' } })).toBe(4 + size + 3);
});

test.each([
  [0, 1],
  [1024, 1],
  [1025, 2],
  [4096, 4],
])('%i bytes cost %i', (bytes, units) => {
  expect(writeUnits(bytes)).toBe(units);
});
