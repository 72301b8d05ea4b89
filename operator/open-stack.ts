import { createReadToken } from '../lambda/aws/bedrock-token.ts';
import type { ReadToken } from '../lambda/settings/secrets.ts';
import { findAws } from '../local/find-aws.ts';
import { CommandError } from './command-line.ts';

/** A stack's outputs, and a reader of its secrets. The AWS SDK is loaded only here, so that local commands start without it. */
export async function openStack(name: string) {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({});
  try {
    await client.config.region().catch(() => {
      throw new CommandError(`no region is set: pass --region, or set AWS_REGION to the region of ${name}`);
    });
    await client.config.credentials().catch(({ message }) => {
      const advice = 'set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
      throw new CommandError(`there are no credentials for AWS (${message}): ${advice}`);
    });
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const outputs: Readonly<Record<string, string | undefined>> = Object.fromEntries(
      (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]),
    );
    const needed = (output: string): string => {
      const value = outputs[output];
      if (value === undefined) throw new CommandError(`the stack ${name} has no output ${output}: is it a gateway?`);
      return value;
    };
    return { outputs, needed, readSecret: (await findAws(client)).readSecret };
  } finally {
    client.destroy();
  }
}

/** Makes tokens from the operator's own credentials, which are resolved with the first token. */
export async function openTokens(): Promise<ReadToken> {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const { credentials } = new CloudFormationClient({ region: 'none' }).config;
  return createReadToken(credentials, Date.now);
}
