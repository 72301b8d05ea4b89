// The bench's stores, in their own process: an embedded DynamoDB with issued keys, and the secrets.

import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createAws } from '../../lambda/aws/call-service.ts';
import { issueKey, type KeyRequest } from '../../lambda/identity/keys.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { createGatewayTables, startDynamoDb } from '../../local/dynamodb.ts';
import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { keyCount, keysInTurn, keyWithBudgetCount, type StoreAddresses, secretIds, secretTexts } from './store.ts';

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
/** Not all at once, which a busy machine would take too long for. */
const issue = async (count: number, more: Partial<KeyRequest>): Promise<string[]> => {
  const keys: string[] = [];
  while (keys.length < count) {
    const issued = Array.from({ length: keysInTurn }, (_, index) => {
      const request = { member: `member-${keys.length + index}`, label: 'bench', limit: 1_000_000, ...more };
      return issueKey(store, request, { now: Date.now, randomBytes });
    });
    keys.push(...(await Promise.all(issued)).map(({ key }) => key));
  }
  return keys.slice(0, count);
};

const addresses: StoreAddresses = {
  keys: await issue(keyCount, {}),
  keysWithBudget: await issue(keyWithBudgetCount, { budget: 1e15, budgetWindow: 'month' }),
  environment: {
    ...tables,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  },
};
process.once('disconnect', () => process.exit());
process.send?.(addresses);
