import type { Template } from '../template.ts';
import { type Guarantee, holdsAll, is, types, variable, type Where } from './guarantee.ts';

const { function: lambda, url, distribution, outputs } = types;

const behaviors = ['DefaultCacheBehavior', 'CacheBehaviors[]'].map((behavior) => `DistributionConfig.${behavior}`);

/** Who was served goes on being served, event by event. */
export const reachable: readonly Guarantee[] = [
  { of: url, at: 'AuthType', must: is('NONE'), otherwise: 'is closed to callers, who can not sign as AWS wants it' },
  { of: url, at: 'InvokeMode', must: is('RESPONSE_STREAM'), otherwise: 'holds every answer back until it is whole' },
  { of: url, at: 'TargetFunctionArn', otherwise: 'leads to another function' },
  {
    of: lambda,
    at: 'ReservedConcurrentExecutions',
    must: (value) => value === undefined || Number(value) > 0,
    otherwise: 'answers nobody: it gets no executions',
  },
  {
    of: lambda,
    at: 'ReservedConcurrentExecutions',
    keeps: (before, after) => before === undefined || after !== undefined,
    otherwise: 'may take every execution of the account: nothing bounds what a flood costs',
  },
  { of: lambda, at: 'Timeout', must: outlastsRequests, otherwise: 'is stopped in the middle of requests' },
  { of: lambda, at: variable('SERVICE_NAME'), otherwise: 'has other models and headers than clients ask for' },
  {
    of: distribution,
    at: 'DistributionConfig.Aliases',
    keeps: holdsAll,
    otherwise: 'does not answer at a domain any more',
  },
  ...behaviors.map((behavior) => ({
    of: distribution,
    at: `${behavior}.Compress`,
    must: is(false),
    otherwise: 'holds the events of streams back to compress them',
  })),
  {
    of: distribution,
    at: 'DistributionConfig.Origins[].CustomOriginConfig.OriginReadTimeout',
    must: outlastsSilence,
    otherwise: 'cuts streams that are silent for no longer than KEEP_ALIVE_INTERVAL allows',
  },
  {
    of: outputs,
    at: '',
    keeps: (before, after) => holdsAll(lastingOutputs(before), Object.entries(after ?? {})),
    otherwise: 'do not say what they said, which the CLI and the runbooks read',
  },
];

/** The function of `/cli`, which has no such setting, asks the tables a few times, for 2 s at most. */
function outlastsRequests(value: unknown, { part }: Where): boolean {
  return Number(value) > Number(variablesOf(part.tree).REQUEST_TIMEOUT ?? 10);
}

function outlastsSilence(value: unknown, { template }: Where): boolean {
  const intervals = resourcesOf(template).map((tree) => Number(variablesOf(tree).KEEP_ALIVE_INTERVAL ?? 0));
  return Number(value) >= 2 * Math.max(...intervals);
}

function lastingOutputs(outputs: unknown): unknown[] {
  return Object.entries(outputs ?? {}).filter(([name]) => name !== 'Commit');
}

type Tree = Readonly<Record<string, unknown>>;

function resourcesOf({ Resources = {} }: Template): Tree[] {
  return Object.values(Resources).map(({ Properties = {} }) => Properties);
}

function variablesOf({ Environment }: Tree): Tree {
  return (Environment as { Variables?: Tree } | undefined)?.Variables ?? {};
}
