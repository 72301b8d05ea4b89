import { type AwsAccess, findAwsAccess } from '../lambda/aws/access.ts';
import { type Aws, createAws } from '../lambda/aws/call-service.ts';

/** Region and credentials as the SDK finds them, including profiles, which a function does not have; and what calls AWS with them. */
export async function findAws(
  client: Parameters<typeof findAwsAccess>[0],
): Promise<Aws & { readonly access: AwsAccess }> {
  const access = await findAwsAccess(client, process.env);
  return { access, ...createAws(access, { now: Date.now, random: Math.random }) };
}
