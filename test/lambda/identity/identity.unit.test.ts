import { expect, test } from '@jest/globals';
import { callerName } from '../../../lambda/identity/identity.ts';

test('a caller’s name includes its kind, so that no network has a member’s name', () => {
  expect(callerName({ kind: 'member', member: 'ada', keyId: 'key_1' })).toBe('member ada');
  expect(callerName({ kind: 'guest', networkId: 'ada' })).toBe('network ada');
});
