import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import {
  issueKey,
  type KeyRecord,
  keyPlaces,
  ownLimitsOf,
  readCredential,
  stateOf,
} from '../../../lambda/identity/keys.ts';
import { testRows } from '../../support/test-rows.ts';

const key = (text: string) => ({ kind: 'key', hash: createHash('sha256').update(text).digest('hex') });
const placeholder = { kind: 'placeholder' };
const none = { kind: 'none' };
const wrapped = { kind: 'wrapped key' };
const whole = `ltk_${'aB3-_'.repeat(8)}abc`;
const notBearer = { kind: 'none', notBearer: true };

testRows<[headers: Record<string, string>, credential: object]>([
  [{}, none],
  [{ 'x-api-key': 'ltk_a' }, key('ltk_a')],
  [{ 'api-key': 'ltk_a' }, key('ltk_a')],
  [{ authorization: 'bearer ltk_a' }, key('ltk_a')],
  [{ authorization: ' BEARER \t ltk_a ' }, key('ltk_a')],
  [{ 'x-api-key': 'ltk_a', 'api-key': 'b', authorization: 'Bearer c' }, key('ltk_a')],
  [{ 'x-api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
  [{ 'api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
  // What is blank or empty is absent.
  [{ 'x-api-key': '  ', authorization: 'Bearer ltk_a' }, key('ltk_a')],
  [{ 'x-api-key': '', 'api-key': '', authorization: '' }, none],
  [{ authorization: 'Bearer ' }, none],
  [{ authorization: 'Bearer' }, none],
  // Other schemes, or none.
  [{ authorization: 'Basic bHRrX2E6' }, notBearer],
  [{ authorization: 'ltk_a' }, notBearer],
  [{ authorization: 'Bearerltk_a' }, notBearer],
  // The prefix makes a key.
  [{ 'x-api-key': 'LTK_a' }, placeholder],
  [{ 'x-api-key': 'ltk_' }, key('ltk_')],
  // A whole key is no placeholder, whatever stands before it.
  [{ authorization: `Bearer "${whole}"` }, wrapped],
  [{ authorization: `Bearer Bearer ${whole}` }, wrapped],
  [{ 'x-api-key': `Bearer ${whole}`, authorization: `Bearer ${whole}` }, wrapped],
  [{ 'api-key': `'${whole}'` }, wrapped],
  [{ authorization: `Bearer ${whole}"` }, key(`${whole}"`)],
  [{ 'x-api-key': 'my ltk_ key' }, placeholder],
])('the credential is the first that is there', (headers, credential) => {
  expect(readCredential(headers)).toEqual(credential);
});

test('people are told where a key may go in one sentence', () => {
  expect(keyPlaces).toMatch(/^x-api-key, api-key(, [a-z-]+)* or Authorization: Bearer$/);
});

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
