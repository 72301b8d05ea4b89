import { expect, test } from '@jest/globals';
import { createToken, markToken } from '../../../lambda/quota/counter-store.ts';
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

test('an item at the highest burst limit of all, with every charge refunded, is not too large', () => {
  const tokens = (count: number) => Array<string>(count).fill(createToken());
  const ofMinute = [...tokens(10_000), ...tokens(10_000).map((token) => markToken(token, 'r'))];
  const item = { pk: { S: 'm'.repeat(100) }, w29000000: { BS: ofMinute }, w29000001: { BS: ofMinute } };
  expect(itemSize(item)).toBeLessThan(400 * 1024 - 200);
});
