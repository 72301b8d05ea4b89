import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createHandler } from '../lambda/engines/function-url.ts';
import { createGateway } from '../lambda/gateway.ts';
import type { Config } from '../lambda/settings/config.ts';
import { readPageFiles } from '../lambda/wallet/page-files.ts';
import { isPagePath } from '../lambda/wallet/site.ts';
import { createWallet } from '../lambda/wallet/wallet.ts';
import { findAws } from './find-aws.ts';
import type { StreamingHandler } from './invoke-function.ts';

/** Both functions as one: the wallet's pages stand below a path of their own, as they would behind one domain on AWS. */
export async function createFunctions(config: Config, dynamoDb: DynamoDBClient): Promise<StreamingHandler> {
  const world = {
    ...(await findAws(dynamoDb)),
    writeLog: (line: string) => process.stdout.write(line),
    now: Date.now,
  };
  const pageFiles = readPageFiles(new URL('../lambda/wallet/page/', import.meta.url));
  const apps = [createGateway(config, world), createWallet(config, { ...world, dynamoDb, pageFiles, scheme: 'http' })];
  const entries: readonly unknown[] = apps.map(createHandler);
  // The types of Lambda know nothing of the stream that a streaming function gets between event and context.
  const [gateway, wallet] = entries as [StreamingHandler, StreamingHandler];
  return (event, stream, context) => (isPagePath(event.rawPath) ? wallet : gateway)(event, stream, context);
}
