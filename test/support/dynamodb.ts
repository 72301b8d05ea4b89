import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../../bench/world/emulator.ts';
import { type AwsAccess, dynamoDbService } from '../../lambda/aws/access.ts';
import { type CallService, createCallService } from '../../lambda/aws/call-service.ts';
import { createDocuments, type Documents } from '../../lambda/store/admin/documents.ts';
import { createGatewayTables } from '../../local/tables.ts';
import { requireStrict } from './strict-dynamodb.ts';

export type TestDynamoDb = Awaited<ReturnType<typeof startTestDynamoDb>>;

const region = 'local';
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** A client with the production settings, for an emulator. */
export function createTestClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, region, credentials });
}

/** What the product needs to reach an emulator. */
export const createTestAccess = (endpoint: string): AwsAccess => ({
  region,
  credentials: async () => credentials,
  environment: { AWS_ENDPOINT_URL_DYNAMODB: endpoint },
});

/** AWS's document client. Throws on requests that DynamoDB refuses but the emulator accepts. */
export function createTestDocuments(endpoint: string): Documents {
  const documents = createDocuments(createTestAccess(endpoint));
  // At the step where values have already been marshalled.
  documents.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        requireStrict(`${commandName}`.replace('Command', ''), args.input as Parameters<typeof requireStrict>[1]);
        return next(args);
      },
    { step: 'build' },
  );
  return documents;
}

/**
 * The same for the hot path, with a frozen clock, so that a retry is never too late on a slow machine. Throws on requests that
 * DynamoDB refuses but the emulator accepts.
 */
export function createTestCaller(endpoint: string): CallService {
  const call = createCallService(dynamoDbService, createTestAccess(endpoint), { now: () => 0, random: Math.random });
  return async (operation, input) => {
    requireStrict(operation, input);
    return call(operation, input);
  };
}

/** An empty DynamoDB in this process, with both tables. */
export async function startTestDynamoDb() {
  const { endpoint, close } = await startDynamoDb();
  const client = createTestClient(endpoint);
  const tables = { keysTable: 'keys', quotaTable: 'quota' } as const;
  await createGatewayTables(client, tables);
  return {
    endpoint,
    /** For inspecting the tables. */
    client,
    /** For the admin store. */
    documents: createTestDocuments(endpoint),
    /** For the hot path. */
    callDynamoDb: createTestCaller(endpoint),
    ...tables,
    close: async () => {
      client.destroy();
      await close();
    },
  };
}
