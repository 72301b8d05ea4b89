import type { Template, Tree } from '../template.ts';
import { falling, type Guarantee, holdsAll, is, rising, told, types, variablesOf, type Where } from './guarantee.ts';

const { function: lambda, url, webFunction, revision, endpoint, bucket, distribution, outputs } = types;

const behaviors = ['DefaultCacheBehavior', 'CacheBehaviors[]'].map((behavior) => `DistributionConfig.${behavior}`);

const newAddress = 'is replaced by one at another address, which no client knows';

const limits = [
  'GUEST_LIMIT',
  'MEMBER_LIMIT',
  'BURST_LIMIT',
  'DAILY_LIMIT',
  'GUEST_DAILY_LIMIT',
  'BODY_BUDGET',
  'MEMBER_BUDGET',
  'SPEND_LIMIT',
];
const times = ['UPSTREAM_CONNECT_TIMEOUT', 'UPSTREAM_IDLE_TIMEOUT', 'REQUEST_TIMEOUT', 'KEEP_ALIVE_INTERVAL'];

/** Megabytes that the largest bodies took (docs/hosting.md), and what Lambda gives unasked. */
const leastMemory = 256;
const lambdasMemory = 128;

/** Clients that were served still are, with streams event by event. */
export const reachable: readonly Guarantee[] = [
  { of: url, at: 'AuthType', must: is('NONE'), otherwise: "is closed to callers, who can't sign requests for AWS" },
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
  {
    of: lambda,
    at: 'MemorySize',
    must: holdsBodies,
    otherwise: `has less than the ${leastMemory} MB that the largest bodies took, and may run out of memory`,
    chosen: true,
  },
  ...told('ACCESS', {
    keeps: (before, after) => before === 'keys' || after !== 'keys',
    otherwise: 'turns away everyone without a key, linked networks too, and has no page /cli',
  }),
  ...told('SERVICE_NAME', { otherwise: 'has models and headers by other names than clients use' }),
  {
    of: endpoint,
    at: 'AuthType',
    must: is('ApplicationManaged'),
    otherwise: "is closed to callers, who can't sign requests for AWS",
  },
  { of: endpoint, at: 'FunctionName', otherwise: 'leads to another function' },
  ...['EndpointName', 'EndpointType', 'Regions'].map((at) => ({ of: endpoint, at, otherwise: newAddress })),
  { of: webFunction, at: 'FunctionName', otherwise: newAddress },
  {
    of: endpoint,
    at: 'ThrottleConfig.RateLimit',
    must: unsetOrMore,
    otherwise: 'answers nobody: it takes no requests',
    chosen: true,
  },
  {
    of: endpoint,
    at: 'ScalingConfig.MaxEnvironments',
    must: unsetOrMore,
    otherwise: 'answers nobody: it gets no environments',
  },
  falling.property(endpoint, 'ThrottleConfig.RateLimit'),
  falling.property(endpoint, 'ScalingConfig.MaxEnvironments'),
  falling.property(revision, 'ServiceConfig.MaxConcurrencyPerEnvironment'),
  ...falling.settings([...limits, ...times, 'REQUEST_BODY_LIMIT']),
  ...rising.settings(times),
  {
    of: bucket,
    at: 'VersioningConfiguration.Status',
    must: is('Enabled'),
    otherwise: 'keeps no versions, which Lambda needs to read code from it',
  },
  {
    of: distribution,
    at: 'DistributionConfig.Aliases',
    keeps: holdsAll,
    otherwise: 'no longer answers at a domain',
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
    otherwise: 'cuts streams before a keep-alive is due: it must be at least twice KEEP_ALIVE_INTERVAL',
  },
  {
    of: outputs,
    at: '',
    keeps: (before, after) => holdsAll(lastingOutputs(before), Object.entries(after ?? {})),
    otherwise: 'have lost or changed a value that commands and runbooks read',
  },
];

/** Unset means unlimited; 0 would stop everything. */
function unsetOrMore(value: unknown): boolean {
  return value === undefined || Number(value) > 0;
}

/** Only functions that take bodies have a limit on them. */
function holdsBodies(megabytes: unknown, { part }: Where): boolean {
  const takesBodies = variablesOf(part.tree).REQUEST_BODY_LIMIT !== undefined;
  return !takesBodies || Number(megabytes ?? lambdasMemory) >= leastMemory;
}

/** The function of `/cli` has no REQUEST_TIMEOUT: it only makes a few requests to the tables, of 2 s each at most. */
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
