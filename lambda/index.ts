import { readConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { createHandler } from './handler.ts';
import { createDynamoDbClient } from './store/client.ts';
import { createSecretReader } from './store/secret.ts';

const gateway = createGateway(readConfig(process.env), {
  dynamoDb: createDynamoDbClient(),
  readSecret: createSecretReader(),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
});

/** What Lambda calls. Everything above happens once for each start of an environment. */
export const handler = createHandler(gateway);
