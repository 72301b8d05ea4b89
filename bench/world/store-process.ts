// The bench's stores, in their own process: an embedded DynamoDB with issued keys, and the secrets.
import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createAws } from '../../lambda/aws/call-service.ts';
import { issueKey, type KeyRequest } from '../../lambda/identity/keys.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { createGatewayTables, startDynamoDb } from '../../local/dynamodb.ts';
import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { keysPerSession, type StoreAddresses, secrets } from './world.ts';

const { endpoint } = await startDynamoDb();
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const tables = { keysTable: 'keys', quotaTable: 'quota' };
await createGatewayTables(new DynamoDBClient({ endpoint, region: 'local', credentials }), tables);
const { url } = await startFakeSecrets(secrets);
const access = {
  ...{ region: 'local', credentials: async () => credentials },
  environment: { AWS_ENDPOINT_URL_DYNAMODB: endpoint },
};
const { callDynamoDb } = createAws(access, { now: Date.now, random: Math.random });
const store = createKeyStore(callDynamoDb, tables.keysTable);

/** The keys of so many sessions: not all at once, which a busy machine would take too long for. */
async function issue(sessions: number, more: Partial<KeyRequest> = {}): Promise<string[]> {
  const keys: string[] = [];
  for (let session = 0; session < sessions; session += 1) {
    const issued = Array.from({ length: keysPerSession }, (_, index) => {
      const request = { member: `member-${keys.length + index}`, label: 'bench', limit: 1_000_000, ...more };
      return issueKey(store, request, { now: Date.now, randomBytes });
    });
    keys.push(...(await Promise.all(issued)).map(({ key }) => key));
  }
  return keys;
}

const addresses: StoreAddresses = {
  // Enough for a server with a thousand requests a second; and before a session reuses an earlier one's, their minute is over.
  keys: await issue(63),
  keysWithBudget: await issue(16, { budget: 1e15, budgetWindow: 'month' }),
  environment: {
    ...{ KEYS_TABLE: tables.keysTable, QUOTA_TABLE: tables.quotaTable },
    ...{ AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ENDPOINT_URL_SECRETS_MANAGER: url },
  },
};
process.once('disconnect', () => process.exit());
process.send?.(addresses);
