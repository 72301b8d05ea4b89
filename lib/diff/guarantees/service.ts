import {
  figure,
  type Guarantee,
  holdsAll,
  is,
  isFarFrom,
  isStillThere,
  isUnsetOrSame,
  keeps,
  keepsTo,
  listOf,
  neverTurns,
  requires,
  told,
  toldAlike,
  tuned,
  tunedSettings,
  types,
  unsetOrMore,
  variable,
  variablesOf,
  type Where,
} from './guarantee.ts';

const { function: lambda, url, webFunction, revision, endpoint, bucket, distribution, outputs } = types;
const { logs, alarm, schedule, subscription } = types;

const closed = "is closed to callers, who can't sign requests for AWS";
const newAddress = 'is replaced by one at another address, which no client knows';
const stopsRequests = 'is stopped in the middle of requests';
const cutsStreams = 'cuts streams before a keep-alive is due: it must be at least twice KEEP_ALIVE_INTERVAL';
const noVersions = 'keeps no versions, which Lambda needs to read code from it';

/** The megabytes that the largest bodies took (docs/hosting.md), and Lambda's default. */
const leastMemory = 256;
const lambdasMemory = 128;
const tooSmall = `has less than the ${leastMemory} MB that the largest bodies took, and may run out of memory`;

const lostOutput = 'have lost or changed a value that commands and runbooks read';

/** Clients can still reach the gateway, and get streams event by event. */
export const reachable: readonly Guarantee[] = [
  requires(url, 'AuthType', is('NONE'), closed),
  requires(url, 'InvokeMode', is('RESPONSE_STREAM'), 'buffers every answer instead of streaming it'),
  keeps(url, 'TargetFunctionArn', 'leads to another function'),
  requires(lambda, 'ReservedConcurrentExecutions', unsetOrMore, 'answers nobody: it gets no executions'),
  requires(lambda, 'Timeout', outlastsRequests, stopsRequests),
  requires(revision, 'ServiceConfig.TimeoutSeconds', outlastsRequests, stopsRequests),
  requires(lambda, 'MemorySize', holdsBodies, tooSmall, { chosen: true }),
  ...told(
    'ACCESS',
    'turns away everyone without a key, linked networks too, and nobody gets one with a wallet',
    neverTurns('keys'),
  ),
  ...told('SERVICE_NAME', 'renames the models and headers that clients use'),
  requires(endpoint, 'AuthType', is('ApplicationManaged'), closed),
  keeps(endpoint, 'FunctionName', 'leads to another function'),
  ...['EndpointName', 'EndpointType', 'Regions'].map((at) => keeps(endpoint, at, newAddress)),
  keeps(webFunction, 'FunctionName', newAddress),
  requires(endpoint, 'ThrottleConfig.RateLimit', unsetOrMore, 'answers nobody: it takes no requests', { chosen: true }),
  requires(endpoint, 'ScalingConfig.MaxEnvironments', unsetOrMore, 'answers nobody: it gets no environments'),
  requires(bucket, 'VersioningConfiguration.Status', is('Enabled'), noVersions),
  keeps(distribution, 'DistributionConfig.Aliases', 'no longer answers at a domain', holdsAll),
  ...['DefaultCacheBehavior', 'CacheBehaviors[]'].map((one) =>
    requires(distribution, `DistributionConfig.${one}.Compress`, is(false), 'buffers the events of streams'),
  ),
  requires(
    distribution,
    'DistributionConfig.Origins[].CustomOriginConfig.OriginReadTimeout',
    outlastsSilence,
    cutsStreams,
  ),
  keeps(outputs, 'GatewayUrl', 'lead clients to another address than theirs', isUnsetOrSame),
  ...['WalletUrl', 'AppUrl'].map((page) =>
    keeps(outputs, page, 'lead people to another page for their keys', isUnsetOrSame),
  ),
  ...['Edge*', 'Canary*', 'Oidc*', 'UpstreamSecret'].map((optional) =>
    keeps(outputs, optional, lostOutput, isUnsetOrSame),
  ),
  keeps(outputs, '', lostOutput, keepsOutputs),
];

/** Only functions that read bodies have a limit on them. */
function holdsBodies(megabytes: unknown, { part }: Where): boolean {
  const takesBodies = variablesOf(part.tree).REQUEST_BODY_LIMIT !== undefined;
  return !takesBodies || Number(megabytes ?? lambdasMemory) >= leastMemory;
}

/** The /cli function has no REQUEST_TIMEOUT: it only makes a few requests to the tables, of 2 s each at most. */
function outlastsRequests(value: unknown, { part }: Where): boolean {
  return Number(value) > Number(variablesOf(part.tree).REQUEST_TIMEOUT ?? 10);
}

function outlastsSilence(value: unknown, { template: { Resources = {} } }: Where): boolean {
  const intervals = Object.values(Resources).map(({ Properties }) => variablesOf(Properties).KEEP_ALIVE_INTERVAL ?? 0);
  return Number(value) >= 2 * Math.max(...intervals.map(Number));
}

/** An output that repeats a setting is judged with that setting. */
function keepsOutputs(before: unknown, after: unknown, { template: { Resources = {} } }: Where): boolean {
  const settings = Object.values(Resources).map(({ Properties }) => variablesOf(Properties));
  const repeatsSetting = (name: string, value: unknown) =>
    settings.some(({ [toSettingName(name)]: set = null }) => JSON.stringify({ Value: set }) === JSON.stringify(value));
  const current = Object.entries(after ?? {});
  const free = new Set(current.flatMap(([name, value]) => (repeatsSetting(name, value) ? name : [])));
  const lasting = Object.entries(before ?? {}).filter(([name]) => !free.has(name) && !judgedApart.test(name));
  return holdsAll(lasting, current);
}

const judgedApart = /^(Commit|(Gateway|Wallet|App)Url|UpstreamSecret|(Edge|Canary|Oidc)\w+)$/;

/** `MemberLimit` becomes `MEMBER_LIMIT`. */
const toSettingName = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

const unlimited = 'may take every execution of the account: nothing bounds the cost of a flood';
const undoesStop = 'gets executions again if it was stopped by hand, which no template shows';
const oneLimitLess = 'has one limit less on the cost of a flood';

/** Limits stay set, and in proportion, and so do the prices of budgets. */
export const bounded: readonly Guarantee[] = [
  ...tunedSettings(['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'DAILY_LIMIT', 'SPEND_LIMIT', 'MEMBER_BUDGET']),
  ...tunedSettings(['RESERVED_OUTPUT', 'BODY_BUDGET', 'REQUEST_BODY_LIMIT', 'REQUEST_TIMEOUT', 'KEEP_ALIVE_INTERVAL']),
  ...tunedSettings(['UPSTREAM_CONNECT_TIMEOUT', 'UPSTREAM_IDLE_TIMEOUT']),
  ...told('GUEST_DAILY_LIMIT', isFarFrom('GUEST_DAILY_LIMIT'), (before, after, where) =>
    tuned()(before, after ?? fifthOfAll(where), where),
  ),
  ...told('GUEST_DAILY_LIMIT', 'answers any number of guests a day, at any cost', (before, after, where) =>
    isStillThere(before, after ?? fifthOfAll(where)),
  ),
  ...told('DAILY_LIMIT', 'answers any number of requests a day, at any cost', isStillThere),
  ...told('SPEND_LIMIT', 'spends any amount a day', isStillThere),
  ...told('MEMBER_BUDGET', 'lets members spend without a budget', isStillThere),
  ...told('MEMBER_BUDGET_WINDOW', 'gives members their budget anew at other times'),
  ...told('PRICES', 'counts budgets by other prices, or by none', isUnsetOrSame),
  ...told('GUEST_WINDOW', 'gives guests their requests anew each day', neverTurns('daily')),
  ...told('ACCESS', 'is open: it serves anyone, without a key that the operator has issued', keepsTo('keys')),
  keeps(lambda, 'ReservedConcurrentExecutions', unlimited, isStillThere),
  keeps(lambda, 'ReservedConcurrentExecutions', undoesStop, leavesStopped),
  keeps(lambda, 'MemorySize', isFarFrom('its memory'), tuned()),
  ...['ThrottleConfig.RateLimit', 'ScalingConfig.MaxEnvironments'].flatMap((limit) => [
    keeps(endpoint, limit, oneLimitLess, isStillThere),
    keeps(endpoint, limit, isFarFrom('its limit'), tuned()),
  ]),
  keeps(revision, 'ServiceConfig.MaxConcurrencyPerEnvironment', isFarFrom('its limit'), tuned()),
];

/**
 * A function that was stopped by hand stays stopped only if this value is not written: CloudFormation writes only what differs
 * between two templates.
 */
function leavesStopped(before: unknown, after: unknown): boolean {
  return before === after || after === undefined || after === 0;
}

/** The default of GUEST_DAILY_LIMIT. */
function fifthOfAll({ part }: Where): number | undefined {
  const { DAILY_LIMIT: all } = variablesOf(part.tree);
  return all === undefined ? undefined : Number(all) / 5;
}

const logsOtherwise = 'logs elsewhere or in another format, but its metrics are extracted from these lines';
const asksAnother = 'calls another gateway, or uses another key';
const atLeastAWeek = figure((days) => days >= 7);

/** Failures are measured, raise an alarm and reach somebody. All alarms ring when their metric is at least the threshold. */
export const watched: readonly Guarantee[] = [
  keeps(lambda, 'LoggingConfig', logsOtherwise),
  keeps(revision, 'ServiceConfig.TelemetryConfig', logsOtherwise),
  requires(logs, 'RetentionInDays', atLeastAWeek, 'forgets within days what happened', { chosen: true }),
  keeps(lambda, variable('CANARY_URL'), asksAnother),
  keeps(lambda, variable('CANARY_SECRET_ID'), asksAnother),
  requires(
    subscription,
    'MonitoringSubscription.RealtimeMetricsSubscriptionConfig.RealtimeMetricsSubscriptionStatus',
    is('Enabled'),
    'does not report the share of each status, which alarms need',
  ),
  requires(schedule, 'State', is('ENABLED'), 'never runs'),
  keeps(schedule, 'ScheduleExpression', 'calls the gateway at other times'),
  keeps(schedule, 'Targets', 'runs something else'),
  ...toldAlike('METRICS_NAMESPACE', 'sends its metrics where no alarm looks'),
  requires(alarm, 'AlarmActions', (value) => listOf(value).length > 0, 'notifies nobody'),
  keeps(alarm, 'AlarmActions', 'no longer notifies everyone that it did', holdsAll),
  requires(alarm, 'ActionsEnabled', (value) => value === undefined || value === true, 'notifies nobody'),
  ...['Threshold', 'DatapointsToAlarm'].flatMap((at) => [
    requires(alarm, at, unsetOrMore, 'always rings'),
    keeps(alarm, at, 'rings later than it did', isAtMost),
  ]),
];

function isAtMost(before: unknown, after: unknown): boolean {
  return before === after || Number(after) < Number(before);
}
