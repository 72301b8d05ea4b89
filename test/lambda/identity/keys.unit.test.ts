import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { issueKey, type KeyRecord, ownLimitsOf, stateOf } from '../../../lambda/identity/issued-keys.ts';
import { testRows } from '../../support/test-rows.ts';

test('a key of 256 random bits is shown once and stored as its hash', async () => {
  const stored: [string, KeyRecord][] = [];
  const store = { put: async (hash: string, record: KeyRecord) => void stored.push([hash, record]) };
  const issuing = { now: () => 1000, randomBytes };
  const own = { limit: 7, budget: 5, budgetWindow: 'day', models: ['svc'], burst: 60, expiresAt: 5000 } as const;
  const request = { member: 'alice', label: 'laptop', ...own };
  const { key, record } = await issueKey(store, request, issuing);
  expect(key).toMatch(/^ltk_[\w-]{43}$/);
  expect(record).toEqual({ ...request, id: expect.stringMatching(/^key_[\w-]{12}$/), createdAt: 1000 });
  expect(stored).toEqual([[createHash('sha256').update(key).digest('hex'), record]]);
  expect(JSON.stringify(stored)).not.toContain(key.slice(4));
  expect(key).not.toContain(record.id.slice(4));
  const other = await issueKey(store, request, issuing);
  expect(other.key).not.toBe(key);
  expect(other.record.id).not.toBe(record.id);
});

test('a key that could not be stored is not given out', async () => {
  const store = { put: () => Promise.reject(new Error('down')) };
  await expect(issueKey(store, { member: 'a' }, { now: () => 0, randomBytes })).rejects.toThrow('down');
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

testRows([
  [{ limit: 0 }, { limit: 0 }],
  [{ burst: 5 }, { burst: 5 }],
  [{ budget: 0, budgetWindow: 'day' }, { budget: { amount: 0, window: 'day' } }],
  [{ models: ['svc'], expiresAt: 5000 }, undefined],
] as const)('a key that has a limit, a burst or a budget counts for itself', (given, own) => {
  expect(ownLimitsOf({ id: 'key_1', member: 'alice', createdAt: 0, ...given })).toEqual(own);
});
