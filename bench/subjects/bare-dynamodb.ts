import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { hashKey } from '../../lambda/identity/issued-keys.ts';
import { pipe } from './bare.ts';

const client = new DynamoDBClient({ maxAttempts: 3 });
const { KEYS_TABLE, QUOTA_TABLE } = process.env;

/** The least work for a gateway with keys and quota: read the key, count with one write, then pipe. */
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  const hash = hashKey(event.headers['x-api-key'] ?? '');
  await client.send(new GetItemCommand({ TableName: KEYS_TABLE, Key: { pk: { S: `key#${hash}` } } }));
  await client.send(
    new UpdateItemCommand({
      TableName: QUOTA_TABLE,
      Key: { pk: { S: `count#${hash}` } },
      UpdateExpression: 'ADD used :one',
      ConditionExpression: 'attribute_not_exists(used) OR used < :limit',
      ExpressionAttributeValues: { ':one': { N: '1' }, ':limit': { N: '1000000' } },
      ReturnValues: 'ALL_NEW',
    }),
  );
  await pipe(event, stream);
});
