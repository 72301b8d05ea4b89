import { expect, test } from '@jest/globals';
import { createDeviceFlowStore } from '../../../../lambda/store/admin/device-flow.ts';
import { createTestDocuments, startTestDynamoDb } from '../../../support/dynamodb.ts';
import { startStoreProxy } from '../../../support/store-proxy.ts';

test('an unknown user code costs a read, and no write', async () => {
  const database = await startTestDynamoDb();
  await using store = await startStoreProxy(database.endpoint);
  const deviceFlow = createDeviceFlowStore(createTestDocuments(store.endpoint), database.keysTable);
  expect(await deviceFlow.findByUserCode('unknown', 5)).toBeUndefined();
  expect(store.operations).toMatchObject([{ name: 'GetItem' }]);
  await database.close();
});
