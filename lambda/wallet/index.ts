import { createHandler } from '../handler.ts';
import { createDynamoDbClient } from '../store/client.ts';
import { createSecretReader } from '../store/secret.ts';
import { readWalletConfig } from './config.ts';
import { readPageFiles } from './page-files.ts';
import { createWallet } from './wallet.ts';

const wallet = createWallet(readWalletConfig(process.env), {
  dynamoDb: createDynamoDbClient(),
  readSecret: createSecretReader(),
  // The bundle keeps the page's files beside it, where they are here too.
  pageFiles: readPageFiles(new URL('./page/', import.meta.url)),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
  // Lambda names the function; a Function URL knows no plain http.
  scheme: process.env.AWS_LAMBDA_FUNCTION_NAME === undefined ? 'http' : 'https',
});

/** What Lambda calls. Everything above happens once for each start of an environment. */
export const handler = createHandler(wallet);
