import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../lambda/identity/identity.ts';
import { issueKey } from '../../../lambda/identity/keys.ts';

test('a key is shown once and stored as its hash', async () => {
  const stored: [string, KeyRecord][] = [];
  const store = { put: async (hash: string, record: KeyRecord) => void stored.push([hash, record]) };
  const own = { limit: 7, budget: 5, budgetWindow: 'day', models: ['svc'], burst: 60, expiresAt: 5000 } as const;
  const request = { member: 'alice', label: 'laptop', ...own };
  const { key, record } = await issueKey(store, request, { now: () => 1000, randomBytes });
  expect(key).toMatch(/^ltk_[\w-]{43}$/);
  expect(record).toEqual({ ...request, id: expect.stringMatching(/^key_[\w-]{12}$/), createdAt: 1000 });
  expect(stored).toEqual([[createHash('sha256').update(key).digest('hex'), record]]);
  expect(JSON.stringify(stored)).not.toContain(key.slice(4));
  expect(key).not.toContain(record.id.slice(4));
});

test('every key is different, of 256 random bits', async () => {
  const sizes: number[] = [];
  const issuing = {
    now: () => 0,
    randomBytes: (size: number) => {
      sizes.push(size);
      return randomBytes(size);
    },
  };
  const store = { put: async () => {} };
  const [one, other] = [
    await issueKey(store, { member: 'a' }, issuing),
    await issueKey(store, { member: 'a' }, issuing),
  ];
  expect(one.key).not.toBe(other.key);
  expect(one.record.id).not.toBe(other.record.id);
  expect(sizes.slice(0, 2)).toEqual([32, 9]);
});

test('a key that could not be stored is not given out', async () => {
  const store = { put: () => Promise.reject(new Error('down')) };
  await expect(issueKey(store, { member: 'a' }, { now: () => 0, randomBytes })).rejects.toThrow('down');
});
