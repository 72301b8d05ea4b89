import type { Template, Tree } from '../template.ts';
import { type Guarantee, holdsAll, is, told, types, variablesOf, type Where } from './guarantee.ts';

const { function: lambda, url, webFunction, revision, endpoint, bucket, distribution, outputs } = types;

const behaviors = ['DefaultCacheBehavior', 'CacheBehaviors[]'].map((behavior) => `DistributionConfig.${behavior}`);

const newAddress = 'is made anew at another address, which no client knows';

/** Who was served goes on being served, event by event. */
export const reachable: readonly Guarantee[] = [
  { of: url, at: 'AuthType', must: is('NONE'), otherwise: 'is closed to callers, who can not sign as AWS wants it' },
  { of: url, at: 'InvokeMode', must: is('RESPONSE_STREAM'), otherwise: 'holds every answer back until it is whole' },
  { of: url, at: 'TargetFunctionArn', otherwise: 'leads to another function' },
  {
    of: lambda,
    at: 'ReservedConcurrentExecutions',
    must: unsetOrMore,
    otherwise: 'answers nobody: it gets no executions',
  },
  { of: lambda, at: 'Timeout', must: outlastsRequests, otherwise: 'is stopped in the middle of requests' },
  {
    of: revision,
    at: 'ServiceConfig.TimeoutSeconds',
    must: outlastsRequests,
    otherwise: 'is stopped in the middle of requests',
  },
  ...told('SERVICE_NAME', { otherwise: 'has other models and headers than clients ask for' }),
  {
    of: endpoint,
    at: 'AuthType',
    must: is('ApplicationManaged'),
    otherwise: 'is closed to callers, who can not sign as AWS wants it',
  },
  { of: endpoint, at: 'FunctionName', otherwise: 'leads to another function' },
  ...['EndpointName', 'EndpointType', 'Regions'].map((at) => ({ of: endpoint, at, otherwise: newAddress })),
  { of: webFunction, at: 'FunctionName', otherwise: newAddress },
  {
    of: endpoint,
    at: 'ThrottleConfig.RateLimit',
    must: unsetOrMore,
    otherwise: 'answers nobody: it takes no requests',
  },
  {
    of: endpoint,
    at: 'ScalingConfig.MaxEnvironments',
    must: unsetOrMore,
    otherwise: 'answers nobody: it gets no environments',
  },
  {
    of: bucket,
    at: 'VersioningConfiguration.Status',
    must: is('Enabled'),
    otherwise: 'keeps no versions, and Lambda reads code from no other',
  },
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

/** Nothing at all would be a limit, too. */
function unsetOrMore(value: unknown): boolean {
  return value === undefined || Number(value) > 0;
}

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

function resourcesOf({ Resources = {} }: Template): Tree[] {
  return Object.values(Resources).map(({ Properties = {} }) => Properties);
}
