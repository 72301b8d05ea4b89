import { type Guarantee, holdsAll, is, listOf, toldAlike, types, variable, type Where } from './guarantee.ts';

const { data, table, secret, stack } = types;

/** No mistake loses keys, counters or secrets for good. */
export const durable: readonly Guarantee[] = [
  { of: data, at: 'DeletionPolicy', must: is('Retain'), otherwise: 'is deleted together with the stack' },
  { of: data, at: 'UpdateReplacePolicy', must: is('Retain'), otherwise: 'is deleted when another takes its place' },
  {
    of: table,
    at: 'Replicas[].DeletionProtectionEnabled',
    must: is(true),
    otherwise: 'can be deleted by a single command',
  },
  {
    of: table,
    at: 'Replicas[].PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled',
    must: is(true),
    otherwise: "can't be restored to an earlier second",
  },
  {
    of: table,
    at: 'Replicas[].PointInTimeRecoverySpecification.RecoveryPeriodInDays',
    must: (days) => days === undefined || days === 35,
    otherwise: "can't be restored to any second of the last 35 days",
  },
  { of: table, at: 'TimeToLiveSpecification', otherwise: 'deletes other items by itself' },
  { of: secret, at: 'SecretString', otherwise: 'is overwritten, and its current value is lost' },
  { of: secret, at: 'GenerateSecretString', otherwise: 'is overwritten, and its current value is lost' },
  {
    of: stack,
    at: 'terminationProtection',
    keeps: (before, after) => before !== true || after === true,
    otherwise: 'can be deleted by a single command',
  },
  { of: stack, at: 'name', otherwise: 'is another stack: everything is created again beside the old one' },
];

const { function: lambda, revision, logs, alarm, schedule, subscription } = types;

const logsOtherwise = 'logs elsewhere or in another form, though its metrics are read from these lines';

/** Failures are measured, raise an alarm and reach somebody. */
export const watched: readonly Guarantee[] = [
  { of: lambda, at: 'LoggingConfig', otherwise: logsOtherwise },
  { of: revision, at: 'ServiceConfig.TelemetryConfig', otherwise: logsOtherwise },
  {
    of: logs,
    at: 'RetentionInDays',
    must: (days) => days === undefined || Number(days) >= 7,
    otherwise: 'forgets within days what happened',
    chosen: true,
  },
  ...['CANARY_URL', 'CANARY_SECRET_ID'].map((name) => ({
    of: lambda,
    at: variable(name),
    otherwise: 'asks another gateway, or uses another key',
  })),
  {
    of: subscription,
    at: 'MonitoringSubscription.RealtimeMetricsSubscriptionConfig.RealtimeMetricsSubscriptionStatus',
    must: is('Enabled'),
    otherwise: 'does not report the share of each status, which alarms need',
  },
  { of: schedule, at: 'State', must: is('ENABLED'), otherwise: 'never runs' },
  { of: schedule, at: 'ScheduleExpression', otherwise: 'asks the gateway at other times' },
  { of: schedule, at: 'Targets', otherwise: 'runs something else' },
  ...toldAlike('METRICS_NAMESPACE', { otherwise: 'sends its metrics where no alarm looks' }),
  { of: alarm, at: 'AlarmActions', must: (value) => listOf(value).length > 0, otherwise: 'notifies nobody' },
  { of: alarm, at: 'AlarmActions', keeps: holdsAll, otherwise: 'no longer notifies everyone that it did' },
  {
    of: alarm,
    at: 'ActionsEnabled',
    must: (value) => value === undefined || value === true,
    otherwise: 'notifies nobody',
  },
  {
    of: alarm,
    at: 'Threshold',
    must: suitsLimit,
    otherwise: 'always rings, or only once requests are turned away',
    chosen: true,
  },
  ...['Threshold', 'DatapointsToAlarm'].map((at) => ({
    ...{ of: alarm, at, otherwise: 'always rings' },
    must: (value: unknown) => value === undefined || Number(value) > 0,
  })),
  // All alarms ring when their metric is at least the threshold.
  {
    of: alarm,
    at: 'Threshold',
    keeps: (before, after, where) => isAtMost(before, after) || limitOf(where) !== undefined,
    otherwise: 'rings later than it did',
  },
  { of: alarm, at: 'DatapointsToAlarm', keeps: isAtMost, otherwise: 'rings later than it did' },
];

function isAtMost(before: unknown, after: unknown): boolean {
  return before === after || Number(after) < Number(before);
}

/** If a function has its own share of executions, the alarm on them depends on that share. */
function suitsLimit(value: unknown, where: Where): boolean {
  const limit = limitOf(where);
  return limit === undefined || (Number(value) > limit / 2 && Number(value) < limit);
}

function limitOf({ part, template }: Where): number | undefined {
  const { MetricName, Dimensions } = part.tree;
  if (MetricName !== 'ConcurrentExecutions') return undefined;
  const [dimension] = listOf(Dimensions) as { readonly Value?: { readonly Ref?: string } }[];
  const share = template.Resources?.[dimension?.Value?.Ref ?? '']?.Properties?.ReservedConcurrentExecutions;
  return share === undefined ? undefined : Number(share);
}
