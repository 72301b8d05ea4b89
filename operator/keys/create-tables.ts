import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createGatewayTables } from '../../local/tables.ts';
import { CommandError, type Outcome } from '../command-line.ts';
import type { Target } from './target.ts';

/** For DynamoDB without a stack, which creates its own tables. */
export async function createTables({ tables }: Target): Promise<Outcome> {
  if (!tables) throw new CommandError('a DATA_DIR needs no tables: set KEYS_TABLE and QUOTA_TABLE instead');
  const { keysTable, quotaTable } = tables;
  const client = new DynamoDBClient();
  await createGatewayTables(client, tables).finally(() => client.destroy());
  return { json: { keysTable, quotaTable }, text: `${keysTable} and ${quotaTable} can be used.` };
}
