import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { keysSchema, quotaSchema, toCreateTableInput } from '../lambda/store/dynamodb/schema.ts';
import type { TableNames } from '../lambda/store/dynamodb/store.ts';

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
        // Another gateway on the same store was faster.
        if (!(fault instanceof ResourceInUseException)) throw fault;
      });
    }
    await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 }, table);
  }
}
