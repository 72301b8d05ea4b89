import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { anchorsIn } from '../docs/markdown.ts';
import { PRICES } from '../support/prices.ts';
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

test('every alarm says what it means and where its runbook is, and notifies somebody', () => {
  const headings = anchorsIn(readFileSync('docs/operations.md', 'utf8'));
  expect(alarms.length).toBeGreaterThan(6);
  const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
  for (const { AlarmDescription, AlarmActions, TreatMissingData } of alarms) {
    expect(AlarmDescription).toMatch(/^\S.{20,} What to do: docs\/operations\.md#[a-z-]+$/);
    const [, runbook = ''] = AlarmDescription.split('#');
    expect(headings).toContain(runbook);
    expect([AlarmActions, TreatMissingData]).toEqual([[{ Ref: topic }], 'notBreaching']);
  }
});

test('the alarms cost no more than $2.20 a month', () => {
  const watched = alarms.map(({ Metrics }) => Metrics?.filter(({ MetricStat }) => MetricStat).length ?? 1);
  expect(watched.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(22);
});

/** The metrics that an alarm watches, and its expression. */
const watchedBy = (id: string) => {
  const {
    Metrics = [],
  }: { Metrics?: { Expression?: string; MetricStat?: { Metric: WatchedMetric; Stat: string } }[] } = alarmOf(id);
  return {
    metrics: Metrics.flatMap(({ MetricStat }) => (MetricStat ? [{ ...MetricStat.Metric, Stat: MetricStat.Stat }] : [])),
    expression: Metrics.find(({ Expression }) => Expression)?.Expression,
  };
};

test.each([
  ['UpstreamCredentialsRefused', 'credentials'],
  ['UpstreamLimited', 'limited'],
  ['UpstreamMissing', 'missing'],
])('%s watches the tries of its class, under the name that the function emits', (id, failureClass) => {
  expect(failureClasses).toHaveProperty(failureClass);
  const { name: MetricName, dimension: Name } = metrics.upstreamFailures;
  const Dimensions = [{ Name, Value: failureClass }];
  expect(watchedBy(id).metrics).toEqual([{ Namespace: namespace, MetricName, Dimensions, Stat: 'Sum' }]);
});

test.each<[string, keyof typeof metrics, readonly string[]]>([
  ['UpstreamFailing', 'upstreamFailedTries', ['Sum', 'SampleCount']],
  ['UpstreamDown', 'upstreamFailedTries', ['Average']],
  ['UpstreamSlow', 'timeToFirstByte', ['SampleCount', 'p90']],
  ['GatewayErrors', 'gatewayErrors', ['Sum']],
  ['ChargesLeftStanding', 'chargesLeftStanding', ['Sum']],
  ['SecretsNotRefreshed', 'secretsNotRefreshed', ['Sum']],
])('%s watches what the function emits, under its name', (id, metric, statistics) => {
  const watched = statistics.map((Stat) => ({ Namespace: namespace, MetricName: metrics[metric].name, Stat }));
  expect(watchedBy(id).metrics).toEqual(watched);
});

test('a setting says what counts as slow', () => {
  expect(alarmOf('UpstreamSlow').Threshold).toBe(30_000);
  synthesizeStack({ slowFirstByte: 7.5 }).template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmDescription: Match.stringLikeRegexp('One stream in ten waits 7.5 s'),
    Threshold: 7_500,
  });
});

test('the alarms watch both functions, and the gateway’s URL', () => {
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  const dimensionsOf = (prefix: string) => [
    { Name: 'FunctionName', Value: { Ref: functions.find((name) => name.startsWith(prefix)) } },
  ];
  for (const [id, prefix] of [
    ['Function', 'GatewayFunction'],
    ['Wallet', 'WalletFunction'],
  ] as const) {
    const watched = { Namespace: 'AWS/Lambda', Dimensions: dimensionsOf(prefix), Stat: 'Sum' };
    expect(watchedBy(`${id}Errors`).metrics).toEqual([{ ...watched, MetricName: 'Errors' }]);
    expect(watchedBy(`${id}Throttled`).metrics).toEqual([{ ...watched, MetricName: 'Throttles' }]);
  }
  const ofUrl = watchedBy('UrlFailing').metrics;
  const Dimensions = dimensionsOf('GatewayFunction');
  expect(ofUrl.filter(({ Namespace }) => Namespace === 'AWS/Lambda')).toEqual(
    ['Url4xxCount', 'Url5xxCount'].map((MetricName) => ({
      ...{ Namespace: 'AWS/Lambda', MetricName, Dimensions, Stat: 'Sum' },
    })),
  );
});

test('the alarms watch both tables', () => {
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

// An alarm replaces missing figures by older ones, so on a metric of DynamoDB it would stay raised for good.
test('every alarm fills the gaps of its metrics, except that on executions, which are always counted', () => {
  for (const [id, { Properties }] of resources) {
    const { Namespace, MetricName } = Properties;
    if (id.startsWith('AlarmsNearingConcurrency')) expect([Namespace, MetricName]).toContain('ConcurrentExecutions');
    else expect(watchedBy(id.replace(/^Alarms|[0-9A-F]{8}$/g, '')).expression).toMatch(/^FILL\(.+, 0\)$/);
  }
});

test('concurrency is watched at its limit: the reserved share, or the account’s', () => {
  expect(alarmOf('NearingConcurrency')).toMatchObject({ MetricName: 'ConcurrentExecutions', Threshold: 800 });
  expect(alarmOf('NearingConcurrency').Dimensions).toBeUndefined();
  synthesizeStack({ reservedConcurrency: 21 }).template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'ConcurrentExecutions',
    Threshold: 17,
    Dimensions: [{ Name: 'FunctionName', Value: Match.anyValue() }],
  });
});

test('the topic accepts messages only from CloudWatch and only over TLS, and passes them on', () => {
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

interface Widget {
  readonly properties: { readonly markdown?: string; readonly title?: string; readonly query?: string };
}

function dashboardOf(synthesized = template) {
  const [dashboard] = Object.values(synthesized.findResources('AWS::CloudWatch::Dashboard'));
  const body: { 'Fn::Join': [string, (string | object)[]] } | undefined = dashboard?.Properties.DashboardBody;
  const [, pieces = []] = body?.['Fn::Join'] ?? [];
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : 'x')).join('');
  const { widgets }: { readonly widgets: readonly Widget[] } = JSON.parse(text);
  return { text, widgets };
}

test('the dashboard answers its four questions, and has every metric', () => {
  const { text, widgets } = dashboardOf();
  expect(widgets.flatMap(({ properties }) => properties.markdown ?? [])).toEqual([
    '## Is it healthy?',
    '## Who is limited?',
    '## How is the upstream?',
    '## What does it cost?',
  ]);
  const { spent, savedByCaches, spendShare, budgetsLeftStanding, lostReservations, ...always } = metrics;
  for (const { name } of Object.values(always)) expect(text).toContain(name);
  for (const { MetricName, Metrics = [] } of alarms) {
    const names = MetricName ? [MetricName] : Metrics.map(({ MetricStat }) => MetricStat?.Metric.MetricName ?? '');
    for (const name of names) expect(text).toContain(name);
  }
  expect(text).toContain(`{\\"${namespace}\\",Code}`);
});

test('prices add a question to the dashboard, in their currency', () => {
  const { text, widgets } = dashboardOf(synthesizeStack({ PRICES, CURRENCY: 'EUR' }).template);
  expect(widgets.flatMap(({ properties }) => properties.markdown ?? []).at(-1)).toBe('## What do answers cost?');
  for (const { name } of Object.values(metrics)) expect(text).toContain(name);
  const titles = widgets.flatMap(({ properties }) => properties.title ?? []);
  expect(titles.filter((title) => title.includes('EUR'))).toEqual([
    'Spent a day, by model (EUR)',
    'Saved by caches a day (EUR)',
    'Most spent by (EUR)',
  ]);
  expect(text).toContain(`SEARCH('{\\"${namespace}\\",Model} MetricName=\\"Spent\\"', 'Sum', 86400)`);
});

test('the dashboard lists failures, those of single tries too, and counts them by class, upstream and status', () => {
  const queryOf = (wanted: string) =>
    dashboardOf().widgets.find(({ properties }) => properties.title === wanted)?.properties.query;
  // A try's own line has its class as `kind` or `reason`; a request's last line has it as `reason`.
  const columns = 'requestId, message, code, coalesce(kind, reason) as class, upstream, upstreamStatus, tries';
  expect(queryOf('Latest failures')).toContain(`| fields @timestamp, ${columns}`);
  const counted = queryOf('Failures by class, upstream and status');
  expect(counted).toContain('| fields coalesce(kind, reason) as class');
  expect(counted).toContain('| stats count(*) as failures by class, upstream, upstreamStatus');
});
