// The bench's stores, in their own process: an emulated DynamoDB with the gateway's tables, and the secrets.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { createGatewayTables } from '../../local/tables.ts';
import { startDynamoDb } from './emulator.ts';

const { endpoint } = await startDynamoDb();
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const tables = { keysTable: 'keys', quotaTable: 'quota' };
await createGatewayTables(new DynamoDBClient({ endpoint, region: 'local', credentials }), tables);
const { url } = await startFakeSecrets({
  upstream: JSON.stringify({ UPSTREAM_API_KEYS: 'upstream-key' }),
  'network-salt': 'a salt of at least sixteen characters',
});

const environment = {
  KEYS_TABLE: tables.keysTable,
  QUOTA_TABLE: tables.quotaTable,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
};
export type StoreEnvironment = typeof environment;

process.once('disconnect', () => process.exit());
process.send?.(environment);
