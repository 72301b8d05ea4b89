import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { TestGateway } from './gateway.ts';

/** The charges of all callers that were not refunded. */
export async function chargesIn({ dynamoDb }: TestGateway): Promise<number> {
  const { Items = [] } = await dynamoDb.client.send(
    new ScanCommand({ TableName: dynamoDb.quotaTable, ConsistentRead: true }),
  );
  return Items.reduce((sum, item) => sum + Number(item.used?.N ?? 0), 0);
}
