import { type Aws, createAws } from '../lambda/store/aws.ts';
import { findAwsAccess } from '../lambda/store/service.ts';

/** AWS as the SDK finds it for one of its clients, wherever it looks: profiles and their like are not for a function. */
export async function findAws(client: Parameters<typeof findAwsAccess>[0]): Promise<Aws> {
  return createAws(await findAwsAccess(client, process.env), { now: Date.now, random: Math.random });
}
