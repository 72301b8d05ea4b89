import { setTimeout } from 'node:timers/promises';
import type { ReadSecret } from '../../lambda/settings/secrets.ts';
import { settings } from '../../lambda/settings/settings.ts';
import { findAws } from '../../local/find-aws.ts';
import { CommandError } from '../command-error.ts';
import type { GatewayFacts } from './gateway-facts.ts';
import { readInsights } from './insights.ts';

/** Where a deployed gateway has its tables and log, by the outputs of its stack. */
export async function readStack(name: string): Promise<GatewayFacts> {
  const { outputs, readSecret } = await openStack(name);
  const needed = (output: string): string => {
    const value = outputs[output];
    if (value === undefined) throw new CommandError(`the stack ${name} has no output ${output}: is it a gateway?`);
    return value;
  };
  const saltSecret = needed('NetworkSaltSecret');
  return {
    url: needed('GatewayUrl'),
    keysTable: needed('KeysTable'),
    quotaTable: needed('QuotaTable'),
    serviceName: outputs.ServiceName ?? settings.SERVICE_NAME.fallback ?? '',
    access: outputs.Access === 'keys' ? 'keys' : 'open',
    memberLimit: Number(outputs.MemberLimit ?? settings.MEMBER_LIMIT.fallback),
    ...(outputs.ContextWindow && { contextWindow: Number(outputs.ContextWindow) }),
    readNetworkSalt: () => readSecret(saltSecret),
    readTokens: async (from, to) => {
      // Where two engines serve side by side, each has a log of its own.
      const logGroups = [needed('LogGroup'), ...(outputs.WebLogGroup ? [outputs.WebLogGroup] : [])];
      return readInsights(logGroups, from, to, () => setTimeout(pollInterval));
    },
  };
}

const pollInterval = 1_000;

interface Stack {
  readonly outputs: Readonly<Record<string, string | undefined>>;
  /** With the stack's own region and credentials. */
  readonly readSecret: ReadSecret;
}

/** Loads the client only when a stack is asked for: local commands start without it. */
async function openStack(name: string): Promise<Stack> {
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
    const outputs = stack?.Outputs ?? [];
    return {
      outputs: Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue])),
      readSecret: (await findAws(client)).readSecret,
    };
  } finally {
    client.destroy();
  }
}
