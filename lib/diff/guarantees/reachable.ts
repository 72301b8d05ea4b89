import {
  behaviors,
  falling,
  type Guarantee,
  holdsAll,
  is,
  keeps,
  neverTurns,
  requires,
  rising,
  stays,
  told,
  types,
  unsetOrMore,
  variablesOf,
  type Where,
} from './guarantee.ts';

const { function: lambda, url, webFunction, revision, endpoint, bucket, distribution, outputs } = types;

const closed = "is closed to callers, who can't sign requests for AWS";
const newAddress = 'is replaced by one at another address, which no client knows';
const stopsRequests = 'is stopped in the middle of requests';
const cutsStreams = 'cuts streams before a keep-alive is due: it must be at least twice KEEP_ALIVE_INTERVAL';

const limits = [
  ...['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'DAILY_LIMIT', 'GUEST_DAILY_LIMIT'],
  ...['BODY_BUDGET', 'MEMBER_BUDGET', 'SPEND_LIMIT', 'REQUEST_BODY_LIMIT'],
];
const times = ['UPSTREAM_CONNECT_TIMEOUT', 'UPSTREAM_IDLE_TIMEOUT', 'REQUEST_TIMEOUT', 'KEEP_ALIVE_INTERVAL'];

/** Megabytes that the largest bodies took (docs/hosting.md), and what Lambda gives unasked. */
const leastMemory = 256;
const lambdasMemory = 128;

/** Clients that were served still are, with streams event by event. */
export const reachable: readonly Guarantee[] = [
  requires(url, 'AuthType', is('NONE'), closed),
  requires(url, 'InvokeMode', is('RESPONSE_STREAM'), 'holds every answer back until it is whole'),
  stays(url, 'TargetFunctionArn', 'leads to another function'),
  requires(lambda, 'ReservedConcurrentExecutions', unsetOrMore, 'answers nobody: it gets no executions'),
  requires(lambda, 'Timeout', outlastsRequests, stopsRequests),
  requires(revision, 'ServiceConfig.TimeoutSeconds', outlastsRequests, stopsRequests),
  requires(
    lambda,
    'MemorySize',
    holdsBodies,
    `has less than the ${leastMemory} MB that the largest bodies took, and may run out of memory`,
    { chosen: true },
  ),
  ...told('ACCESS', 'turns away everyone without a key, linked networks too, and has no page /cli', neverTurns('keys')),
  ...told('SERVICE_NAME', 'has models and headers by other names than clients use'),
  requires(endpoint, 'AuthType', is('ApplicationManaged'), closed),
  stays(endpoint, 'FunctionName', 'leads to another function'),
  ...['EndpointName', 'EndpointType', 'Regions'].map((at) => stays(endpoint, at, newAddress)),
  stays(webFunction, 'FunctionName', newAddress),
  requires(endpoint, 'ThrottleConfig.RateLimit', unsetOrMore, 'answers nobody: it takes no requests', { chosen: true }),
  requires(endpoint, 'ScalingConfig.MaxEnvironments', unsetOrMore, 'answers nobody: it gets no environments'),
  falling.property(endpoint, 'ThrottleConfig.RateLimit'),
  falling.property(endpoint, 'ScalingConfig.MaxEnvironments'),
  falling.property(revision, 'ServiceConfig.MaxConcurrencyPerEnvironment'),
  ...falling.settings([...limits, ...times]),
  ...rising.settings(times),
  requires(
    bucket,
    'VersioningConfiguration.Status',
    is('Enabled'),
    'keeps no versions, which Lambda needs to read code from it',
  ),
  keeps(distribution, 'DistributionConfig.Aliases', holdsAll, 'no longer answers at a domain'),
  ...behaviors.map((behavior) =>
    requires(distribution, `${behavior}.Compress`, is(false), 'holds the events of streams back to compress them'),
  ),
  requires(
    distribution,
    'DistributionConfig.Origins[].CustomOriginConfig.OriginReadTimeout',
    outlastsSilence,
    cutsStreams,
  ),
  keeps(outputs, '', keepsOutputs, 'have lost or changed a value that commands and runbooks read'),
];

/** Only functions that take bodies have a limit on them. */
function holdsBodies(megabytes: unknown, { part }: Where): boolean {
  const takesBodies = variablesOf(part.tree).REQUEST_BODY_LIMIT !== undefined;
  return !takesBodies || Number(megabytes ?? lambdasMemory) >= leastMemory;
}

/** The function of `/cli` has no REQUEST_TIMEOUT: it only makes a few requests to the tables, of 2 s each at most. */
function outlastsRequests(value: unknown, { part }: Where): boolean {
  return Number(value) > Number(variablesOf(part.tree).REQUEST_TIMEOUT ?? 10);
}

function outlastsSilence(value: unknown, { template: { Resources = {} } }: Where): boolean {
  const intervals = Object.values(Resources).map(({ Properties }) => variablesOf(Properties).KEEP_ALIVE_INTERVAL ?? 0);
  return Number(value) >= 2 * Math.max(...intervals.map(Number));
}

function keepsOutputs(before: unknown, after: unknown): boolean {
  const lasting = Object.entries(before ?? {}).filter(([name]) => name !== 'Commit');
  return holdsAll(lasting, Object.entries(after ?? {}));
}
