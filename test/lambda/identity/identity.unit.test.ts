import { expect, test } from '@jest/globals';
import { callerName, stateOf } from '../../../lambda/identity/identity.ts';
import { testRows } from '../../support/test-rows.ts';

test('a caller’s name includes its kind, so that no network has a member’s name', () => {
  expect(callerName({ kind: 'member', member: 'ada', keyId: 'key_1' })).toBe('member ada');
  expect(callerName({ kind: 'guest', networkId: 'ada' })).toBe('network ada');
});

testRows([
  [{}, 'live'],
  [{ expiresAt: 101 }, 'live'],
  [{ expiresAt: 100 }, 'expired'],
  [{ expiresAt: 0 }, 'expired'],
  [{ revokedAt: 200 }, 'revoked'],
  [{ revokedAt: 50, expiresAt: 60 }, 'revoked'],
] as const)('at 100, a key is live, expired or revoked', (times, state) => {
  expect(stateOf(times, 100)).toBe(state);
});
