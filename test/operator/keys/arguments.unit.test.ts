import { describe, expect, test } from '@jest/globals';
import { readWhole } from '../../../operator/command-line.ts';
import { parseExpiry } from '../../../operator/keys/arguments.ts';
import { testRows } from '../../support/test-rows.ts';

const now = Date.parse('2026-11-21T10:00:00Z');

describe('an expiry', () => {
  const good = [
    ['1h', '2026-11-21T11:00:00Z'],
    ['30d', '2026-12-21T10:00:00Z'],
    ['2w', '2026-12-05T10:00:00Z'],
    ['2026-12-24', '2026-12-24T00:00:00Z'],
    ['2026-12-24T18:30Z', '2026-12-24T18:30:00Z'],
    ['2028-02-29', '2028-02-29T00:00:00Z'],
  ] as const;
  testRows(good)('is a span or a time to come', (text, expected) => {
    expect(parseExpiry(text, now)).toBe(Date.parse(expected));
  });

  const bad = [
    ...['', '0d', '-1d', '1.5d', '30', 'd', '30 d', '30m', '999999w', 'tomorrow', '2026-12-24T18:30'],
    ...['2026-11-20', '2026-11-21', '2026-02-30', '2027-02-29', '2027-13-01', '9999-12-31'],
  ];
  testRows(bad)('is nothing else', (text) => {
    expect(parseExpiry(text, now)).toBeUndefined();
  });
});

test('a whole number is within its bounds, in its plain spelling', () => {
  const read = readWhole(1, 10);
  expect(read('7')).toBe(7);
  for (const word of ['0', '11', '', '7.0', '7e0', '+7', ' 7', '0x7', 'NaN', '99999999999']) {
    expect(() => read(word)).toThrow('It must be a whole number from 1 to 10.');
  }
});
