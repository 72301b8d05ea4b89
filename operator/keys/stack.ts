import { setTimeout } from 'node:timers/promises';
import type { Budget } from '../../lambda/budget/budget-window.ts';
import type { ReadSecret } from '../../lambda/settings/secrets.ts';
import { settings } from '../../lambda/settings/table.ts';
import { mostBurst } from '../../lambda/tables/counter-cost.ts';
import { findAws } from '../../local/find-aws.ts';
import { CommandError } from '../command-line.ts';
import { parseBudget } from './arguments.ts';
import { type ReadTokens, readInsights } from './token-log.ts';

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
    oidcIssuer: outputs.OidcIssuer,
    appUrl: outputs.AppUrl,
    memberLimit: Number(outputs.MemberLimit ?? settings.MEMBER_LIMIT.fallback),
    mostBurst,
    currency: outputs.Currency,
    memberBudget: parseBudget(outputs.MemberBudget ?? ''),
    ...(outputs.ContextWindow && { contextWindow: Number(outputs.ContextWindow) }),
    readNetworkSalt: () => readSecret(saltSecret),
    readTokens: async (from, to) => readInsights(needed('LogGroup'), from, to, () => setTimeout(pollInterval)),
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

/** The facts that a command needs about its gateway. */
export interface GatewayFacts {
  readonly url: string;
  readonly serviceName: string;
  /** In tokens, where the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  /** The currency of its prices. Without prices nobody can have a budget. */
  readonly currency?: string | undefined;
  /** What a member may spend who has no other budget. */
  readonly memberBudget?: Budget | undefined;
  /** The highest burst that a key may have. */
  readonly mostBurst: number;
  /** With `keys`, links of networks count for nothing. */
  readonly access: 'open' | 'keys';
  /** Where people sign in with their company's account, if they can. */
  readonly oidcIssuer?: string | undefined;
  /** Where terminals sign in, if they can. */
  readonly appUrl?: string | undefined;
  readonly keysTable: string;
  readonly quotaTable: string;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}
