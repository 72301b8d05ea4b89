import { setTimeout } from 'node:timers/promises';
import { mostBurst } from '../../lambda/tables/schema.ts';
import { findAws } from '../../local/find-aws.ts';
import type { GatewayFacts } from '../../local/gateway-file.ts';
import { CommandError } from '../command-line.ts';
import { parseBudget } from './arguments.ts';
import { type ReadTokens, readInsights } from './token-log.ts';

export interface TargetFacts extends GatewayFacts {
  readonly mostBurst: number;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}

/** Where a deployed gateway has its tables and log, by the outputs of its stack. */
export async function readStack(name: string): Promise<TargetFacts> {
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
    serviceName: needed('ServiceName'),
    access: needed('Access') === 'keys' ? 'keys' : 'open',
    oidcIssuer: outputs.OidcIssuer,
    appUrl: outputs.AppUrl,
    memberLimit: Number(needed('MemberLimit')),
    mostBurst,
    currency: outputs.Currency,
    ...(outputs.ReservedByDefault && { reservedByDefault: JSON.parse(outputs.ReservedByDefault) }),
    memberBudget: parseBudget(outputs.MemberBudget ?? ''),
    ...(outputs.ContextWindow && { contextWindow: Number(outputs.ContextWindow) }),
    readNetworkSalt: () => readSecret(saltSecret),
    readTokens: async (from, to) => readInsights(needed('LogGroup'), from, to, () => setTimeout(pollInterval)),
  };
}

const pollInterval = 1_000;

/** The outputs of a stack, and a reader of its secrets. Only here is the client loaded: local commands start without it. */
async function openStack(name: string) {
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
    const byName: Readonly<Record<string, string | undefined>> = Object.fromEntries(
      outputs.map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]),
    );
    return { outputs: byName, readSecret: (await findAws(client)).readSecret };
  } finally {
    client.destroy();
  }
}
