import { type AwsAccess, findAwsAccess } from '../lambda/aws/access.ts';
import { type Aws, createAws } from '../lambda/aws/call-service.ts';

/** Finds region and credentials like the SDK, including profiles, which a function does not have; and a client that uses them. */
export async function findAws(
  client: Parameters<typeof findAwsAccess>[0],
): Promise<Aws & { readonly access: AwsAccess }> {
  const access = await findAwsAccess(client, process.env);
  return { access, ...createAws(access, { now: Date.now, random: Math.random }) };
}
