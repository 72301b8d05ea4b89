import { expect, test } from '@jest/globals';
import { readWhole } from '../../operator/command-line.ts';

test('a whole number is within its bounds, in its plain spelling', () => {
  const read = readWhole(1, 10);
  expect(read('7')).toBe(7);
  for (const word of ['0', '11', '', '7.0', '7e0', '+7', ' 7', '0x7', 'NaN', '99999999999']) {
    expect(() => read(word)).toThrow('It must be a whole number from 1 to 10.');
  }
});
