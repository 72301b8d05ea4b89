import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { metrics } from '../../lambda/report/metric-names.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { headingsOf } from '../support/headings.ts';
import { synthesizeStack } from '../support/stack.ts';

const { template } = synthesizeStack({ alarmEmail: 'on-call@example.com' });
const namespace = 'InferenceGateway-dev';

interface WatchedMetric {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmProperties extends WatchedMetric {
  readonly AlarmDescription: string;
  readonly AlarmActions: unknown;
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: WatchedMetric } }[];
  readonly Threshold: number;
  readonly TreatMissingData: string;
}

const resources = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
const alarms: readonly AlarmProperties[] = resources.map(([, { Properties }]) => Properties);
const alarmOf = (id: string) => resources.find(([name]) => name.startsWith(`Alarms${id}`))?.[1].Properties;

test('every alarm says what it means and where its runbook is, and tells somebody', () => {
  const headings = headingsOf(readFileSync('docs/operations.md', 'utf8'));
  expect(alarms.length).toBeGreaterThan(6);
  const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
  for (const { AlarmDescription, AlarmActions, TreatMissingData } of alarms) {
    const [, runbook = ''] = /\S.{20,} What to do: docs\/operations\.md#([a-z-]+)$/.exec(AlarmDescription) ?? [];
    expect(headings).toContain(runbook);
    expect([AlarmActions, TreatMissingData]).toEqual([[{ Ref: topic }], 'notBreaching']);
  }
});

test('the alarms cost no more than $1.20 a month', () => {
  const watched = alarms.map(({ Metrics }) => Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1);
  expect(watched.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(12);
});

test('they watch what the function emits, under its names', () => {
  expect(alarmOf('UpstreamCredentialsRefused')).toMatchObject({
    Namespace: namespace,
    MetricName: metrics.upstreamFailures.name,
    Dimensions: [{ Name: metrics.upstreamFailures.dimension, Value: 'credentials' }],
    Threshold: 1,
  });
  expect(failureClasses).toHaveProperty('credentials');
  expect(alarmOf('GatewayErrors')).toMatchObject({ Namespace: namespace, MetricName: metrics.gatewayErrors.name });
  const watched = alarmOf('UpstreamFailing').Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) =>
    MetricStat ? [MetricStat.Metric] : [],
  );
  expect(watched).toEqual([
    { Namespace: namespace, MetricName: metrics.refunds.name },
    { Namespace: namespace, MetricName: metrics.requests.name },
  ]);
});

test('they watch both functions', () => {
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  for (const [id, prefix] of [
    ['Function', 'GatewayFunction'],
    ['Wallet', 'WalletFunction'],
  ]) {
    const Value = { Ref: functions.find((name) => name.startsWith(prefix ?? '')) };
    const watched = { Namespace: 'AWS/Lambda', Dimensions: [{ Name: 'FunctionName', Value }], Threshold: 1 };
    expect(alarmOf(`${id}Errors`)).toMatchObject({ ...watched, MetricName: 'Errors' });
    expect(alarmOf(`${id}Throttled`)).toMatchObject({ ...watched, MetricName: 'Throttles' });
  }
});

test('they watch both tables', () => {
  const throttled = alarms.flatMap(({ Metrics = [] }) =>
    Metrics.flatMap(({ MetricStat }) => (MetricStat?.Metric.Namespace === 'AWS/DynamoDB' ? [MetricStat.Metric] : [])),
  );
  const [keys, quota] = Object.keys(template.findResources('AWS::DynamoDB::GlobalTable'));
  expect(throttled.map(({ MetricName, Dimensions }) => [MetricName, Dimensions?.[0]?.Value])).toEqual([
    ['ReadThrottleEvents', { Ref: keys }],
    ['ReadThrottleEvents', { Ref: quota }],
    ['WriteThrottleEvents', { Ref: quota }],
  ]);
});

// An alarm on a metric of DynamoDB ignores missing figures, whatever it is told: once raised, it would stay so for good.
test('the alarms on tables end by themselves, though DynamoDB counts only while it throttles', () => {
  expect(alarms.filter(({ Namespace }) => Namespace === 'AWS/DynamoDB')).toEqual([]);
  for (const id of ['KeyReadsThrottled', 'QuotaReadsThrottled', 'QuotaWritesThrottled']) {
    expect(alarmOf(id)).toMatchObject({ DatapointsToAlarm: 1, EvaluationPeriods: 3, Threshold: 1 });
    expect(alarmOf(id).Metrics).toContainEqual(expect.objectContaining({ Expression: 'FILL(throttled, 0)' }));
  }
});

test('concurrency is watched where it ends: at the own share, or at what the account has', () => {
  expect(alarmOf('NearingConcurrency')).toMatchObject({ MetricName: 'ConcurrentExecutions', Threshold: 800 });
  expect(alarmOf('NearingConcurrency').Dimensions).toBeUndefined();
  synthesizeStack({ reservedConcurrency: 21 }).template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'ConcurrentExecutions',
    Threshold: 17,
    Dimensions: [{ Name: 'FunctionName', Value: Match.anyValue() }],
  });
});

test('the topic takes messages from CloudWatch only, over TLS only, and passes them on', () => {
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        Match.objectLike({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ],
    },
  });
  template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'on-call@example.com' });
  synthesizeStack().template.resourceCountIs('AWS::SNS::Subscription', 0);
});

test('the dashboard asks its four questions, of every metric that there is', () => {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body: { 'Fn::Join': [string, (string | object)[]] } | undefined = dashboard?.Properties.DashboardBody;
  const [, pieces = []] = body?.['Fn::Join'] ?? [];
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('');
  const { widgets }: { widgets: { properties: { markdown?: string; width: number } }[] } = JSON.parse(text);
  expect(widgets.flatMap(({ properties }) => properties.markdown ?? [])).toEqual([
    '## Is it healthy?',
    '## Who is limited?',
    '## What does the upstream do to us?',
    '## What does it cost?',
  ]);
  for (const { name } of Object.values(metrics)) expect(text).toContain(name);
  expect(text).toContain(`{\\"${namespace}\\",Code}`);
});
