import { expect, test } from '@jest/globals';
import { nearest } from '../../lib/deployment-block.ts';

test.each([
  ['prd', ['dev', 'prod', 'staging'], 'prod'],
  ['guest-limit', ['GUEST_LIMIT', 'GUEST_WINDOW'], 'GUEST_LIMIT'],
  ['GUSET_LIMIT', ['MEMBER_LIMIT', 'GUEST_LIMIT', 'BURST_LIMIT'], 'GUEST_LIMIT'],
  ['memory', ['memorySize', 'edge'], 'memorySize'],
  ['', ['dev'], undefined],
  ['completely', ['else'], undefined],
  ['x', [], undefined],
  ['ba', ['ab'], 'ab'], // one swap, not two changes
])('%s among %j', (word, names, expected) => {
  expect(nearest(word, names)).toBe(expected);
});
