import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { App } from 'aws-cdk-lib/core';
import { metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { EdgeAlarmsStack } from '../../lib/alarms/edge.ts';
import { readDeploymentConfig } from '../../lib/config.ts';
import { anchorsIn } from '../docs/markdown.ts';
import { PRICES } from '../support/prices.ts';
import { least, synthesizeStack } from '../support/stack.ts';

const { template } = synthesizeStack({ alarmEmail: 'on-call@example.com' });
const namespace = 'InferenceGateway-dev';

interface WatchedMetric {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmProperties extends WatchedMetric {
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: WatchedMetric } }[];
  readonly Threshold: number;
}

const resources = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
const alarms: readonly AlarmProperties[] = resources.map(([, { Properties }]) => Properties);
const alarmOf = (id: string) => resources.find(([name]) => name.startsWith(`Alarms${id}`))?.[1].Properties;

/** Stacks that together have every alarm there is. */
const company = {
  APP_URL: 'https://api.example.com',
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'gateway',
};
const everyKind = [
  { canary: true, edge: true, DAILY_LIMIT: 1000, PRICES, SPEND_LIMIT: 20, reservedConcurrency: 50 },
  { engine: 'web', ...company, OIDC_ALLOW_ALL: true },
].map((settings) => synthesizeStack({ ...settings, alarmEmail: 'on-call@example.com' }).template);
const ofEdge = { ...least, edge: true, alarmEmail: 'on-call@example.com' };
const config = readDeploymentConfig({ defaults: ofEdge, stages: { dev: {} } });
const app = new App({ builtinCloudFormationValidation: false });
const edgeAlarms = Template.fromStack(new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId: 'E1' }));

test('every alarm says what it means and where its runbook is, and notifies somebody', () => {
  const headings = anchorsIn(readFileSync('docs/operations.md', 'utf8'));
  for (const each of [...everyKind, edgeAlarms]) {
    const [topic] = Object.keys(each.findResources('AWS::SNS::Topic'));
    const found = Object.values(each.findResources('AWS::CloudWatch::Alarm'));
    expect(found.length).toBeGreaterThan(2);
    for (const { Properties } of found) {
      const { AlarmDescription: said, AlarmActions } = Properties;
      expect(said).toMatch(/^\S.{20,} What to do: docs\/operations\.md#[a-z-]+$/);
      expect(headings).toContain(said.split('#')[1]);
      expect(AlarmActions).toEqual([{ Ref: topic }]);
    }
    each.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'on-call@example.com' });
  }
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
