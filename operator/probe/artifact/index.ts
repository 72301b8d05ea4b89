// dist/probe: deployed in the server's place for an hour, tells `npm run probe` what the platform does.
import { createServer } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { secretHash, secretHashVariable } from '../terms.ts';
import { createListener } from './create-listener.ts';
import { createDescribeCredentials, type FoundCredentials } from './describe-credentials.ts';

const hash = process.env[secretHashVariable] ?? '';
const endpoint = /^(.+):(\d+)$/.exec(process.env.AWS_LAMBDA_HTTP_ENDPOINT ?? '');
if (!secretHash.test(hash)) {
  console.error(`${secretHashVariable} must be the SHA-256 of the secret, in hex`);
  process.exit(1);
}

// The SDK's default chain, as in the server. No table is read.
const findCredentials = (): Promise<FoundCredentials> => {
  const client = new DynamoDBClient({ region: process.env.AWS_REGION ?? 'us-east-1' });
  return client.config.credentials().finally(() => client.destroy());
};
const describeCredentials = createDescribeCredentials({ environment: process.env, findCredentials, now: Date.now });
const server = createServer(createListener({ secretHash: hash, describeCredentials, now: () => performance.now() }));
server.requestTimeout = 0; // so that only the platform can end a slow request
server.listen(Number(endpoint?.[2] ?? process.env.PORT ?? 8788), endpoint?.[1] ?? '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));
