import type { Guarantee, Where } from './guarantee.ts';
import {
  figure,
  holdsAll,
  is,
  keeps,
  keepsTo,
  listOf,
  requires,
  stays,
  toldAlike,
  types,
  unsetOrMore,
  variable,
} from './guarantee.ts';

const { table, secret, stack, function: lambda, revision, logs, alarm, schedule, subscription } = types;

const recovery = 'Replicas[].PointInTimeRecoverySpecification';
const overwritten = 'is overwritten, and its current value is lost';

/** No mistake loses keys, counters or secrets for good. */
export const durable: readonly Guarantee[] = [
  ...[table, secret].flatMap((data) => [
    requires(data, 'DeletionPolicy', is('Retain'), 'is deleted together with the stack'),
    requires(data, 'UpdateReplacePolicy', is('Retain'), 'is deleted when another takes its place'),
  ]),
  requires(table, 'Replicas[].DeletionProtectionEnabled', is(true), 'can be deleted by a single command'),
  requires(table, `${recovery}.PointInTimeRecoveryEnabled`, is(true), "can't be restored to an earlier second"),
  requires(
    table,
    `${recovery}.RecoveryPeriodInDays`,
    figure((days) => days === 35),
    "can't be restored to any second of the last 35 days",
  ),
  stays(table, 'TimeToLiveSpecification', 'deletes other items by itself'),
  stays(secret, 'SecretString', overwritten),
  stays(secret, 'GenerateSecretString', overwritten),
  keeps(stack, 'terminationProtection', keepsTo(true), 'can be deleted by a single command'),
  stays(stack, 'name', 'is another stack: everything is created again beside the old one'),
];

const logsOtherwise = 'logs elsewhere or in another form, though its metrics are read from these lines';
const asksAnother = 'asks another gateway, or uses another key';
const atLeastAWeek = figure((days) => days >= 7);

/** Failures are measured, raise an alarm and reach somebody. All alarms ring when their metric is at least the threshold. */
export const watched: readonly Guarantee[] = [
  stays(lambda, 'LoggingConfig', logsOtherwise),
  stays(revision, 'ServiceConfig.TelemetryConfig', logsOtherwise),
  requires(logs, 'RetentionInDays', atLeastAWeek, 'forgets within days what happened', { chosen: true }),
  stays(lambda, variable('CANARY_URL'), asksAnother),
  stays(lambda, variable('CANARY_SECRET_ID'), asksAnother),
  requires(
    subscription,
    'MonitoringSubscription.RealtimeMetricsSubscriptionConfig.RealtimeMetricsSubscriptionStatus',
    is('Enabled'),
    'does not report the share of each status, which alarms need',
  ),
  requires(schedule, 'State', is('ENABLED'), 'never runs'),
  stays(schedule, 'ScheduleExpression', 'asks the gateway at other times'),
  stays(schedule, 'Targets', 'runs something else'),
  ...toldAlike('METRICS_NAMESPACE', 'sends its metrics where no alarm looks'),
  requires(alarm, 'AlarmActions', (value) => listOf(value).length > 0, 'notifies nobody'),
  keeps(alarm, 'AlarmActions', holdsAll, 'no longer notifies everyone that it did'),
  requires(alarm, 'ActionsEnabled', (value) => value === undefined || value === true, 'notifies nobody'),
  requires(alarm, 'Threshold', suitsLimit, 'always rings, or only once requests are turned away', { chosen: true }),
  requires(alarm, 'Threshold', unsetOrMore, 'always rings'),
  requires(alarm, 'DatapointsToAlarm', unsetOrMore, 'always rings'),
  keeps(
    alarm,
    'Threshold',
    (before, after, where) => isAtMost(before, after) || limitOf(where) !== undefined,
    'rings later than it did',
  ),
  keeps(alarm, 'DatapointsToAlarm', isAtMost, 'rings later than it did'),
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
