// The bench's stores, in their own process: an embedded DynamoDB with issued keys, and the secrets.

import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createAws } from '../../lambda/aws/call-service.ts';
import { issueKey } from '../../lambda/identity/keys.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { createGatewayTables, startDynamoDb } from '../../local/dynamodb.ts';
import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { keyCount, type StoreAddresses, secretIds, secretTexts } from './store.ts';

const { endpoint } = await startDynamoDb();
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const client = new DynamoDBClient({ endpoint, region: 'local', credentials });
const tables = { KEYS_TABLE: 'keys', QUOTA_TABLE: 'quota' };
await createGatewayTables(client, { keysTable: tables.KEYS_TABLE, quotaTable: tables.QUOTA_TABLE });
const secrets = await startFakeSecrets({
  [secretIds.UPSTREAM_SECRET_ID]: secretTexts.upstream,
  [secretIds.NETWORK_SALT_SECRET_ID]: secretTexts.networkSalt,
});
const access = {
  ...{ region: 'local', credentials: async () => credentials },
  environment: { AWS_ENDPOINT_URL_DYNAMODB: endpoint },
};
const { callDynamoDb } = createAws(access, { now: Date.now, random: Math.random });
const store = createKeyStore(callDynamoDb, tables.KEYS_TABLE);
const issued = Array.from({ length: keyCount }, (_, index) => {
  const request = { member: `member-${index}`, label: 'bench', limit: 1_000_000, expiresAt: undefined };
  return issueKey(store, request, { now: Date.now, randomBytes });
});
const keys = (await Promise.all(issued)).map(({ key }) => key);

const addresses: StoreAddresses = {
  keys,
  environment: {
    ...tables,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  },
};
process.once('disconnect', () => process.exit());
process.send?.(addresses);
