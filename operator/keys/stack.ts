import { setTimeout } from 'node:timers/promises';
import type { ResultField } from '@aws-sdk/client-cloudwatch-logs';
import type { Budget } from '../../lambda/budget/budget-window.ts';
import type { ReadSecret } from '../../lambda/settings/secrets.ts';
import { settings } from '../../lambda/settings/table.ts';
import { mostBurst } from '../../lambda/tables/counter-cost.ts';
import { findAws } from '../../local/find-aws.ts';
import { CommandError } from '../command-line.ts';
import { parseBudget } from './arguments.ts';
import { countEach, type ReadTokens, type TokenGroup, type TokenReport, tokenFields } from './token-log.ts';

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

/** The most rows that CloudWatch returns for a query. */
const mostRows = 10_000;
const mostPolls = 300;

const sums = Object.entries(tokenFields).map(([kind, field]) => `sum(${field}) as ${kind}`);

/** Only lines of answers without usage have a `usage`. */
const query = [
  `filter ispresent(${tokenFields.input}) or ispresent(${tokenFields.output}) or usage = "absent"`,
  `stats count(*) as answers, count(usage) as withoutUsage, ${sums.join(', ')} by key, member`,
  'sort answers desc',
].join(' | ');

/**
 * Sums up the log of a deployed gateway with one query. The client is loaded only here, and finds region and credentials in the
 * environment. `pause` is awaited between two looks at the query.
 */
export async function readInsights(
  logGroupName: string,
  from: number,
  to: number,
  pause: () => Promise<unknown>,
): Promise<TokenReport> {
  const { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand, StopQueryCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const client = new CloudWatchLogsClient({});
  try {
    const { queryId } = await client.send(
      new StartQueryCommand({
        logGroupName,
        queryString: query,
        startTime: Math.floor(from / 1000),
        endTime: Math.ceil(to / 1000),
        limit: mostRows,
      }),
    );
    for (let polls = 0; polls < mostPolls; polls += 1) {
      const { status = 'Unknown', results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
      if (status === 'Complete') return toReport(results);
      if (!['Scheduled', 'Running'].includes(status)) {
        throw new CommandError(`CloudWatch ended the query of ${logGroupName} as ${status}: ${remedy}`);
      }
      await pause();
    }
    // Otherwise the query would run on and be billed.
    await client.send(new StopQueryCommand({ queryId })).catch(() => {});
    throw new CommandError(`CloudWatch took too long over the query of ${logGroupName}: ${remedy}`);
  } finally {
    client.destroy();
  }
}

const remedy = 'try again, or with fewer --days';

function toReport(rows: readonly ResultField[][]): TokenReport {
  const groups = rows.map(toGroup);
  if (rows.length < mostRows) return { groups };
  const note = `CloudWatch gives ${mostRows} rows at most: keys with fewer answers than these are left out.`;
  return { groups, note };
}

/** A field that is in no line of the group may be missing or empty. */
function toGroup(row: readonly ResultField[]): TokenGroup {
  const fields = new Map(row.map(({ field, value }) => [field, value]));
  const counts = countEach((name) => Number(fields.get(name) ?? 0));
  return { key: fields.get('key') || undefined, member: fields.get('member') || undefined, counts };
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
