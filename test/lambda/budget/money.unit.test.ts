import { expect, test } from '@jest/globals';
import { formatAmount, microsOf, readAmount } from '../../../lambda/budget/money.ts';
import { createRandom } from '../../support/random.ts';
import { testRows } from '../../support/test-rows.ts';

testRows([
  ['20', 20_000_000],
  ['0.000001', 1],
  ['1.10', 1_100_000],
  ['1000000000', 1_000_000_000_000_000],
  // As a number, 4.35 * 1,000,000 is 4349999.999…
  ['4.35', 4_350_000],
])('an amount is read exactly', (text, micros) => {
  expect(readAmount(text)).toBe(micros);
});

testRows([
  ...['', '0', '0.0', '-1', '+1', '1.', '.5', '01', '1e3', '1,5', ' 1', '1 ', '１'],
  ...['0.0000001', '1.0000000000000000001', '1000000000.000001', '99999999999', 'NaN', '1.5.2'],
])('anything else is not an amount', (text) => {
  expect(readAmount(text)).toBeUndefined();
});

test('a price may be 0, an amount to spend not', () => {
  expect(microsOf(0)).toBe(0);
});

testRows([
  [0, '0.00'],
  [1, '0.000001'],
  [1_230_000, '1.23'],
  [1_234_000, '1.234'],
  [-1_500_000, '-1.50'],
  [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
])('an amount is written with two to six places', (micros, text) => {
  expect(formatAmount(micros)).toBe(text);
});

test('what is written is read back as the same amount', () => {
  const random = createRandom(28);
  for (let turn = 0; turn < 500; turn += 1) {
    const micros = 1 + random.below(10 ** (1 + random.below(15)));
    expect(readAmount(formatAmount(micros))).toBe(micros);
  }
});
