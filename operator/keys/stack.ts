import { setTimeout } from 'node:timers/promises';
import { mostBurst } from '../../lambda/store/dynamodb/schema.ts';
import type { TableNames } from '../../lambda/store/dynamodb/store.ts';
import type { GatewayFacts } from '../../local/gateway-file.ts';
import { openStack } from '../open-stack.ts';
import { parseBudget } from './arguments.ts';
import { type ReadTokens, readInsights } from './token-log.ts';

export interface TargetFacts extends GatewayFacts {
  readonly mostBurst: number;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}

/** Finds a deployed gateway's tables and log in the outputs of its stack. */
export async function readStack(name: string): Promise<TargetFacts & { readonly tables: TableNames }> {
  const { outputs, needed, readSecret } = await openStack(name);
  const saltSecret = needed('NetworkSaltSecret');
  return {
    url: needed('GatewayUrl'),
    tables: { keysTable: needed('KeysTable'), quotaTable: needed('QuotaTable') },
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
