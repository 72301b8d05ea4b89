import { findAwsAccess } from '../lambda/aws/access.ts';
import { type Aws, createAws } from '../lambda/aws/call-service.ts';

/** Region and credentials as the SDK finds them, including profiles, which a function does not have. */
export async function findAws(client: Parameters<typeof findAwsAccess>[0]): Promise<Aws> {
  return createAws(await findAwsAccess(client, process.env), { now: Date.now, random: Math.random });
}
