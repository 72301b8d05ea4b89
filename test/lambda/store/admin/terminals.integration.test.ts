import { expect, test } from '@jest/globals';
import { createDeviceFlowStore } from '../../../../lambda/store/admin/device-flow.ts';
import { createTestDocuments, startTestDynamoDb } from '../../../support/dynamodb.ts';
import { startStoreProxy } from '../../../support/store-proxy.ts';

test('a user code that nobody has costs a read, and no write', async () => {
  const database = await startTestDynamoDb();
  await using store = await startStoreProxy(database.endpoint);
  const terminals = createDeviceFlowStore(createTestDocuments(store.endpoint), database.keysTable);
  expect(await terminals.findByUserCode('unknown', 5)).toBeUndefined();
  expect(store.operations).toMatchObject([{ name: 'GetItem' }]);
  await database.close();
});
