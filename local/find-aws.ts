import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Aws, createAws } from '../lambda/store/aws.ts';

/** AWS as the SDK finds it for one of its clients, wherever it looks: profiles and their like are not for a function. */
export async function findAws({ config }: DynamoDBClient | CloudFormationClient): Promise<Aws> {
  const access = { region: await config.region(), credentials: config.credentials, environment: process.env };
  return createAws(access, { now: Date.now, random: Math.random });
}
