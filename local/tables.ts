import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { ConfigError } from '../lambda/settings/read-settings.ts';
import { keysSchema, quotaSchema, toCreateTableInput } from '../lambda/store/dynamodb/schema.ts';
import type { TableNames } from '../lambda/store/dynamodb/store.ts';

/** Creates missing tables at the start of a gateway. */
export async function prepareTables(tables: TableNames): Promise<void> {
  const client = new DynamoDBClient();
  await createGatewayTables(client, tables)
    .catch((error) => {
      const { AWS_ENDPOINT_URL_DYNAMODB: endpoint } = process.env;
      const store = endpoint ? `AWS_ENDPOINT_URL_DYNAMODB ${endpoint}` : 'DynamoDB';
      throw new ConfigError([`${store} can't be used: ${Error.isError(error) ? error.message : String(error)}`]);
    })
    .finally(() => client.destroy());
}

/** Creates the gateway's two tables where they are missing. */
export function createGatewayTables(client: DynamoDBClient, { keysTable, quotaTable }: TableNames): Promise<void> {
  return createMissingTables(client, [
    toCreateTableInput(keysSchema, keysTable),
    toCreateTableInput(quotaSchema, quotaTable),
  ]);
}

/** Creates missing tables and waits until all can be used. */
export async function createMissingTables(
  client: DynamoDBClient,
  inputs: readonly CreateTableCommandInput[],
): Promise<void> {
  for (const input of inputs) {
    const table = { TableName: input.TableName };
    try {
      await client.send(new DescribeTableCommand(table));
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      await client.send(new CreateTableCommand(input)).catch((fault) => {
        // Another gateway on the same store created it first.
        if (!(fault instanceof ResourceInUseException)) throw fault;
      });
    }
    await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 }, table);
  }
}
