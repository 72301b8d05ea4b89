import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../../lambda/identity/issued-keys.ts';
import { createKeyStore } from '../../../../lambda/store/admin/keys.ts';
import type { KeyStore } from '../../../../lambda/store/store.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../../support/dynamodb.ts';

const record = (id: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  member: 'alice',
  createdAt: 1000,
  ...more,
});

describe('createKeyStore', () => {
  let database: TestDynamoDb;
  let store: KeyStore;

  beforeEach(async () => {
    database = await startTestDynamoDb();
    store = createKeyStore(database.documents, database.keysTable);
  });
  afterEach(() => database.close());

  test('finds a key by its hash and by its id, exactly as it was put', async () => {
    const full = record('key_1', { label: 'laptop', limit: 7, expiresAt: 5000 });
    await store.put('hash1', full);
    await store.put('hash2', record('key_2', { label: undefined }));
    expect(await store.findKey('hash1')).toEqual(full);
    expect(await store.findById('key_1')).toEqual(full);
    expect(await store.findKey('hash2')).toEqual(record('key_2'));
    expect(await store.findKey('other')).toBeUndefined();
    expect(await store.findById('key_3')).toBeUndefined();
  });

  test('finds items of deployed tables', async () => {
    const put = (pk: string, values: object) =>
      database.documents.send(new PutCommand({ TableName: database.keysTable, Item: { ...values, pk } }));
    await put('key#hash1', record('key_1'));
    await put('link#network1', { member: 'alice', linkedAt: 0, expiresAt: 10, ttl: 1_800_000_000 });
    await put('issued', {});
    expect(await store.findKey('hash1')).toEqual(record('key_1'));
    expect(await store.findLink('network1')).toEqual({ member: 'alice', linkedAt: 0, expiresAt: 10 });
    expect(await store.anyKeyIssued()).toBe(true);
  });

  test('lists the keys of one member, newest first', async () => {
    for (const age of [1, 2, 3, 4, 5]) await store.put(`hash${age}`, record(`key_${age}`, { createdAt: age }));
    await store.put('hash6', record('key_6', { member: 'bob' }));
    await store.link('network1', { member: 'alice', linkedAt: 0, expiresAt: 1_800_000_000_000 });
    const keys = await store.list('alice');
    expect(keys.map(({ id }) => id)).toEqual(['key_5', 'key_4', 'key_3', 'key_2', 'key_1']);
  });

  test('a revoked key keeps its first date', async () => {
    await store.put('hash1', record('key_1'));
    expect(await store.revoke('key_1', 2000)).toEqual(record('key_1', { revokedAt: 2000 }));
    await store.revoke('key_1', 3000);
    expect((await store.findKey('hash1'))?.revokedAt).toBe(2000);
    expect(await store.revoke('key_2', 2000)).toBeUndefined();
  });

  test('changes the limits of a key, and nothing else', async () => {
    const own = { budget: 20_000_000, budgetWindow: 'month', models: ['svc', 'svc-vision'], burst: 60 } as const;
    await store.put('hash1', record('key_1', own));
    expect(await store.findKey('hash1')).toEqual(record('key_1', own));
    expect(await store.change('key_1', { limit: 0 })).toEqual(record('key_1', { ...own, limit: 0 }));
    await store.change('key_1', { models: ['svc'], budget: undefined, budgetWindow: undefined, limit: 3 });
    const changed = record('key_1', { limit: 3, models: ['svc'], burst: 60 });
    expect(await store.findKey('hash1')).toEqual(changed);
    await store.change('key_1', { limit: undefined, models: undefined, burst: undefined });
    expect(await store.findKey('hash1')).toEqual(record('key_1'));
    expect(await store.change('key_2', { limit: 1 })).toBeUndefined();
  });
});
