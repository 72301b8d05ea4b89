import { expect } from '@jest/globals';
import { itemSize, writeUnits } from '../../../lambda/tables/table.ts';
import { testRows } from '../../support/test-rows.ts';

testRows([
  ['a text', { S: 'naïve' }, 6],
  ['a number, two digits a byte', { N: '12345' }, 4],
  ['bytes that are one set', { BS: ['AAAAAAA=', 'AAA='] }, 3 + 6 + 3],
])('an attribute counts with its name', (_name, value, size) => {
  expect(itemSize({ four: value })).toBe(4 + size);
  expect(itemSize({ four: value, pk: { S: 'x' } })).toBe(4 + size + 3);
});

testRows([
  [0, 1],
  [1024, 1],
  [1025, 2],
  [4096, 4],
])('bytes cost units', (bytes, units) => {
  expect(writeUnits(bytes)).toBe(units);
});
