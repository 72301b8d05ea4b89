import { expect } from '@jest/globals';
import { readRetryAfter } from '../../../lambda/upstream/failed-answer.ts';
import { testRows } from '../../support/test-rows.ts';

const now = Date.UTC(2026, 5, 15, 12, 0, 0);

testRows([
  ['0', 0],
  ['20', 20],
  [' 7 ', 7],
  ['0.2', 1],
  ['86400', 86400],
  ['172800', 172800],
  ['2678400', 2678400],
  ['2678401', undefined],
  ['99999999999999999999', undefined],
  ['Mon, 15 Jun 2026 12:00:30 GMT', 30],
  ['Monday, 15-Jun-26 12:00:30 GMT', 30],
  ['Mon, 15 Jun 2026 11:00:00 GMT', 0],
  ['Mon, 15 Jun 2099 11:00:00 GMT', undefined],
  ['Mon, 99 Jun 2026 99:00:00 GMT', undefined],
  ['2026-06-15', undefined],
  ['-5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('a Retry-After is so many seconds', (header, seconds) => {
  expect(readRetryAfter(header, now)).toBe(seconds);
});
