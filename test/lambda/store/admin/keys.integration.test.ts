import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { createKeyStore } from '../../../../lambda/store/admin/keys.ts';
import { startTestDynamoDb } from '../../../support/dynamodb.ts';

test('finds items of deployed tables', async () => {
  const { documents, keysTable, close } = await startTestDynamoDb();
  const store = createKeyStore(documents, keysTable);
  const put = (pk: string, values: object) =>
    documents.send(new PutCommand({ TableName: keysTable, Item: { ...values, pk } }));
  const record = { id: 'key_1', member: 'alice', createdAt: 1000 };
  await put('key#hash1', record);
  await put('link#network1', { member: 'alice', linkedAt: 0, expiresAt: 10, ttl: 1_800_000_000 });
  await put('issued', {});
  expect(await store.findKey('hash1')).toEqual(record);
  expect(await store.findLink('network1')).toEqual({ member: 'alice', linkedAt: 0, expiresAt: 10 });
  expect(await store.anyKeyIssued()).toBe(true);
  await close();
});
