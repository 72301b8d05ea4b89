import { expect, test } from '@jest/globals';
import { createFindings } from '../../../lambda/dialects/model/findings.ts';

test('the number of findings in an answer or event is limited', () => {
  const found = createFindings({});
  const note = () => found.keep(1);
  for (let count = 0; count < 100_000; count += 1) note();
  expect(note).toThrow('more than 100000 things to note at a time');
  found.clear();
  expect(note).not.toThrow();
});
