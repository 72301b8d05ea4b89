// The stores of the bench, a process of its own: an embedded DynamoDB with issued keys, and the secrets.
import { randomBytes } from 'node:crypto';
import { issueKey } from '../../lambda/identity/issue-key.ts';
import { createDocumentClient } from '../../lambda/store/client.ts';
import { createKeyStore } from '../../lambda/store/keys.ts';
import { startTestDynamoDb } from '../../test/support/dynamodb.ts';
import { startFakeSecrets } from '../../test/support/fake-secrets.ts';
import { keysPerSession, type StoreAddresses, secretIds, secretTexts } from './store.ts';

/** Before a session gets the keys of an earlier one, their minute is over. */
const keyCount = 32 * keysPerSession;

const dynamoDb = await startTestDynamoDb();
const secrets = await startFakeSecrets({
  [secretIds.UPSTREAM_SECRET_ID]: secretTexts.upstream,
  [secretIds.NETWORK_SALT_SECRET_ID]: secretTexts.networkSalt,
});
const store = createKeyStore(createDocumentClient(dynamoDb.client), dynamoDb.keysTable);
const issued = Array.from({ length: keyCount }, (_, index) => {
  const request = { member: `member-${index}`, label: 'bench', limit: 1_000_000, expiresAt: undefined };
  return issueKey(store, request, { now: Date.now, randomBytes });
});
const keys = (await Promise.all(issued)).map(({ key }) => key);

const addresses: StoreAddresses = {
  keys,
  environment: {
    KEYS_TABLE: dynamoDb.keysTable,
    QUOTA_TABLE: dynamoDb.quotaTable,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
  },
};
process.once('disconnect', () => process.exit());
process.send?.(addresses);
