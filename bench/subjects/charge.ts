import { createPost } from '../../lambda/store/post.ts';
import { dynamoDbService, endpointOf, readAwsAccess } from '../../lambda/store/service.ts';
import { createSign } from '../../lambda/store/sign.ts';

const access = readAwsAccess(process.env);
const endpoint = endpointOf(dynamoDbService, access);
const post = createPost(endpoint);
const sign = createSign(dynamoDbService, access.region, endpoint);
let calls = 0;

/** The least that exact counting takes: one signed write, to one of many counters. */
export async function charge(): Promise<void> {
  calls += 1;
  const body = JSON.stringify({
    TableName: process.env.QUOTA_TABLE,
    Key: { pk: { S: `floor#${calls % 64}` } },
    UpdateExpression: 'ADD used :one',
    ConditionExpression: 'attribute_not_exists(used) OR used < :limit',
    ExpressionAttributeValues: { ':one': { N: '1' }, ':limit': { N: '1000000' } },
    ReturnValues: 'ALL_NEW',
  });
  const call = { operation: 'UpdateItem', body, time: Date.now(), attempt: 'attempt=1; max=3' };
  const { status } = await post(sign(call, await access.credentials()), body, undefined);
  if (status !== 200) throw new Error(`the table answered ${status}`);
}
