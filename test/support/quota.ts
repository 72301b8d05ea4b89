import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { TestGateway } from './gateway.ts';

/** The charges of all callers, minus refunds. */
export async function chargesIn({ dynamoDb }: TestGateway): Promise<number> {
  const { Items = [] } = await dynamoDb.client.send(
    new ScanCommand({ TableName: dynamoDb.quotaTable, ConsistentRead: true }),
  );
  const counts = Items.flatMap((item) => Object.entries(item).filter(([name]) => /^(u\d+|ulifetime|used)$/.test(name)));
  return counts.reduce((sum, [, { N }]) => sum + Number(N), 0);
}
