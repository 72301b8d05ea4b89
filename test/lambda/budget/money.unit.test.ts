import { describe, expect, test } from '@jest/globals';
import { formatAmount, readAmount, readMicros } from '../../../lambda/budget/money.ts';
import { createRandom } from '../../support/random.ts';

describe('readAmount', () => {
  test.each([
    ['20', 20_000_000],
    ['0.5', 500_000],
    ['0.000001', 1],
    ['1.10', 1_100_000],
    ['1000000000', 1_000_000_000_000_000],
    // As a number, 4.35 * 1,000,000 is 4349999.999…
    ['4.35', 4_350_000],
  ])('%s', (text, micros) => {
    expect(readAmount(text)).toBe(micros);
  });

  test.each([
    ...[
      '',
      ' ',
      '0',
      '0.0',
      '0.000000',
      '-1',
      '+1',
      '1.',
      '.5',
      '01',
      '1e3',
      '1E3',
      '0x10',
      '1,5',
      '1_000',
      ' 1',
      '1 ',
    ],
    ...['0.0000001', '1000000000.000001', '1000000001', '99999999999', 'NaN', 'Infinity', '1.5.2', '１'],
  ])('refuses %j', (text) => {
    expect(readAmount(text)).toBeUndefined();
  });

  test('a price may be 0, an amount to spend not', () => {
    expect(readMicros('0.00')).toBe(0);
  });
});

describe('formatAmount', () => {
  test.each([
    [0, '0.00'],
    [1, '0.000001'],
    [900_000, '0.90'],
    [1_230_000, '1.23'],
    [1_234_000, '1.234'],
    [20_000_000, '20.00'],
    [-1_500_000, '-1.50'],
    [1_000_000_000_000_000, '1000000000.00'],
  ])('%i', (micros, text) => {
    expect(formatAmount(micros)).toBe(text);
  });

  test('what is written is read back as the same amount', () => {
    const random = createRandom(28);
    for (let turn = 0; turn < 2_000; turn += 1) {
      const micros = 1 + random.below(10 ** (1 + random.below(15)));
      expect(readAmount(formatAmount(micros))).toBe(micros);
    }
  });
});
