import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { issueKey, type KeyRecord, keyPlaces, readCredential, stateOf } from '../../../lambda/identity/keys.ts';
import { testRows } from '../../support/test-rows.ts';

const key = (text: string) => ({ kind: 'key', hash: createHash('sha256').update(text).digest('hex') });
const placeholder = { kind: 'placeholder' };
const none = { kind: 'none' };
const notBearer = { kind: 'none', notBearer: true };

describe('readCredential', () => {
  testRows<[string, Record<string, string | undefined>, object]>([
    ['no header', {}, none],
    ['x-api-key', { 'x-api-key': 'ltk_a' }, key('ltk_a')],
    ['api-key', { 'api-key': 'ltk_a' }, key('ltk_a')],
    ['a bearer', { authorization: 'Bearer ltk_a' }, key('ltk_a')],
    ['a bearer in small letters', { authorization: 'bearer ltk_a' }, key('ltk_a')],
    ['a bearer in capitals, with more space', { authorization: ' BEARER \t ltk_a ' }, key('ltk_a')],
    ['x-api-key before all others', { 'x-api-key': 'ltk_a', 'api-key': 'b', authorization: 'Bearer c' }, key('ltk_a')],
    [
      'a placeholder in x-api-key before a key elsewhere',
      { 'x-api-key': 'a', authorization: 'Bearer ltk_b' },
      placeholder,
    ],
    ['api-key before a bearer', { 'api-key': 'a', authorization: 'Bearer ltk_b' }, placeholder],
    ['a blank x-api-key as absent', { 'x-api-key': '  ', authorization: 'Bearer ltk_a' }, key('ltk_a')],
    ['empty headers as absent', { 'x-api-key': '', 'api-key': '', authorization: '' }, none],
    ['a bearer without a value', { authorization: 'Bearer ' }, none],
    ['the bare word', { authorization: 'Bearer' }, none],
    ['another scheme', { authorization: 'Basic bHRrX2E6' }, notBearer],
    ['no scheme', { authorization: 'ltk_a' }, notBearer],
    ['a scheme that only begins like it', { authorization: 'Bearerltk_a' }, notBearer],
    ['the prefix in capitals as a placeholder', { 'x-api-key': 'LTK_a' }, placeholder],
    ['the bare prefix as a key', { 'x-api-key': 'ltk_' }, key('ltk_')],
  ])('takes the first that is there', (_, headers, expected) => {
    expect(readCredential(headers)).toEqual(expected);
  });
});

test('people are told where a key may go in one sentence', () => {
  expect(keyPlaces).toMatch(/^x-api-key, api-key(, [a-z-]+)* or Authorization: Bearer$/);
});

test('a key of 256 random bits is shown once and stored as its hash', async () => {
  const stored: [string, KeyRecord][] = [];
  const store = { put: async (hash: string, record: KeyRecord) => void stored.push([hash, record]) };
  const sizes: number[] = [];
  const issuing = {
    now: () => 1000,
    randomBytes: (size: number) => {
      sizes.push(size);
      return randomBytes(size);
    },
  };
  const own = { limit: 7, budget: 5, budgetWindow: 'day', models: ['svc'], burst: 60, expiresAt: 5000 } as const;
  const request = { member: 'alice', label: 'laptop', ...own };
  const { key, record } = await issueKey(store, request, issuing);
  expect(key).toMatch(/^ltk_[\w-]{43}$/);
  expect(record).toEqual({ ...request, id: expect.stringMatching(/^key_[\w-]{12}$/), createdAt: 1000 });
  expect(stored).toEqual([[createHash('sha256').update(key).digest('hex'), record]]);
  expect(JSON.stringify(stored)).not.toContain(key.slice(4));
  expect(key).not.toContain(record.id.slice(4));
  expect(sizes).toEqual([32, 9]);
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
