import { createHandler } from '../engines/function-url.ts';
import { createAws } from '../store/aws.ts';
import { createDynamoDbClient } from '../store/client.ts';
import { readAwsAccess } from '../store/service.ts';
import { readWalletConfig } from './config.ts';
import { readPageFiles } from './page-files.ts';
import { createWallet } from './wallet.ts';

const wallet = createWallet(readWalletConfig(process.env), {
  ...createAws(readAwsAccess(process.env), { now: Date.now, random: Math.random }),
  dynamoDb: createDynamoDbClient(),
  // The bundle keeps the pages' files beside it, where they are here too.
  pageFiles: readPageFiles(new URL('./pages/', import.meta.url)),
  writeLog: (line) => process.stdout.write(line),
  now: Date.now,
  // A Function URL knows no plain http.
  scheme: 'https',
});

/** What Lambda calls. Everything above happens once for each start of an environment. */
export const handler = createHandler(wallet);
