import { expect, test } from '@jest/globals';
import { createMarkSheet } from '../../../lambda/stream/marks.ts';

test('the marks of an answer are limited, and each answer starts anew', () => {
  const sheet = createMarkSheet({});
  const note = () => sheet.marks.pass(1);
  for (let count = 0; count < 100_000; count += 1) note();
  expect(note).toThrow('more than 100000 things to note at a time');
  sheet.clear();
  expect(note).not.toThrow();
});
