import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { canaryMetrics, metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { anchorsIn } from '../docs/markdown.ts';
import { type Alarm, readAlarms, statesOf } from '../support/alarms.ts';
import { PRICES } from '../support/prices.ts';
import { synthesizeEdgeAlarms, synthesizeParts, synthesizeStack } from '../support/stack.ts';

const alarmsWith = (settings: object) => readAlarms(synthesizeStack({ ...settings }).template.toJSON());
const usual = alarmsWith({});
const alarmEmail = 'on-call@example.com';
const company = {
  APP_URL: 'https://api.example.com',
  OIDC_ISSUER: 'https://login.example.com',
  ...{ OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true },
};

/** Stacks that together have every alarm there is. */
const everyKind = [
  synthesizeStack({ canary: true, DAILY_LIMIT: 1000, PRICES, SPEND_LIMIT: 20, reservedConcurrency: 50, alarmEmail }),
  synthesizeStack({ engine: 'web', ...company, alarmEmail }),
  synthesizeEdgeAlarms({ alarmEmail }),
].map(({ template }) => template);
const everyAlarm = everyKind.flatMap((template) => readAlarms(template.toJSON()));

test('every alarm describes itself, links to its runbook, and notifies somebody', () => {
  const headings = anchorsIn(readFileSync('docs/operations.md', 'utf8'));
  for (const template of everyKind) {
    const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
    const found = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(found.length).toBeGreaterThan(2);
    for (const { Properties } of found) {
      const { AlarmDescription: said, AlarmActions } = Properties;
      expect(said).toMatch(/^\S.{20,} What to do: docs\/operations\.md#[a-z-]+$/);
      expect(headings).toContain(said.split('#')[1]);
      expect(AlarmActions).toEqual([{ Ref: topic }]);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: alarmEmail });
  }
});

test('every alarm links to its runbook if the docs have a URL', () => {
  const DOCS_URL = 'https://docs.example/gateway/';
  for (const { template } of [synthesizeStack({ DOCS_URL }), synthesizeEdgeAlarms({ DOCS_URL })]) {
    for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm'))) {
      expect(Properties.AlarmDescription).toMatch(
        / What to do: https:\/\/docs\.example\/gateway\/operations\.md#[a-z-]+$/,
      );
    }
  }
});

// An alarm falls back on older data points where some are missing, so on DynamoDB's metrics it would never stop.
test('every alarm fills the gaps of its metrics, except on executions, which are always counted, and on a query', () => {
  const unfilled = everyAlarm.filter(({ expression }) => !/^FILL\(.+, [01]\)$/.test(expression));
  expect(unfilled.map(({ name }) => name)).toEqual(['NearingConcurrency', 'WebFailing']);
});

test('alarms on a failure class name an existing one', () => {
  const labels = usual.flatMap(({ watched }) => Object.values(watched).map(({ label }) => label));
  const classes = labels.flatMap((label) => / Class=(\w+)$/.exec(label)?.[1] ?? []);
  expect(classes).toEqual(['credentials', 'limited', 'missing']);
  expect(Object.keys(failureClasses)).toEqual(expect.arrayContaining(classes));
});

/** When an alarm rings, without its expression. */
function render({ watched, threshold, times, among }: Alarm): string {
  const figures = Object.values(watched).map(({ label, statistic }) => `${statistic} of ${label}`);
  return `${figures} at least ${threshold} in ${times} of ${among}`.replaceAll('InferenceGateway-dev ', '');
}

const guests = { NearingGuestDailyLimit: 'Average of GuestDailyLimitUsed at least 80 in 1 of 12' };
const budgets = {
  BudgetsLeftStanding: 'Sum of BudgetLeftStanding at least 5 in 1 of 3',
  ReservationsLost: 'Sum of LostReservations at least 5 in 1 of 3',
};
test.each<[settings: object, added: object]>([
  [{ GUEST_DAILY_LIMIT: 1000 }, guests],
  [{ DAILY_LIMIT: 1000 }, { NearingDailyLimit: 'Average of DailyLimitUsed at least 80 in 1 of 12', ...guests }],
  [
    { PRICES, SPEND_LIMIT: 20 },
    {
      NearingSpendLimit: 'Maximum of SpendShare at least 80 in 1 of 12',
      SpendLimitReached: 'Maximum of SpendShare at least 100 in 1 of 12',
      ...budgets,
    },
  ],
  [{ alarmTokens: 5_000_000 }, { ManyTokens: 'Sum of InputTokens,Sum of OutputTokens at least 5000000 in 1 of 1' }],
  [
    { PRICES, alarmSpending: 2.5 },
    { MuchSpent: 'Sum of Spent Model=svc,Sum of Spent Model=svc-vision at least 2.5 in 1 of 1', ...budgets },
  ],
  [company, { SignInsFailing: 'Sum of SignInsFailed at least 1 in 2 of 12' }],
  [{ canary: true }, { CanaryFailing: 'Minimum of CanaryFailures at least 1 in 1 of 1' }],
  [
    { slowFirstByte: 7.5 },
    { UpstreamSlow: 'SampleCount of TimeToFirstByte,p90 of TimeToFirstByte at least 7500 in 3 of 4' },
  ],
  [
    { reservedConcurrency: 21 },
    {
      NearingConcurrency:
        'Maximum of AWS/Lambda ConcurrentExecutions FunctionName=GatewayFunction at least 17 in 3 of 5',
    },
  ],
])('with %j these alarms are added or changed: %j', (settings, added) => {
  const before = new Map(usual.map((alarm) => [alarm.name, render(alarm)]));
  const others = alarmsWith(settings).filter((alarm) => before.get(alarm.name) !== render(alarm));
  expect(Object.fromEntries(others.map((alarm) => [alarm.name, render(alarm)]))).toEqual(added);
});

test('the canary’s alarm rings after a quarter of an hour without a passing run', () => {
  const [alarm] = everyAlarm.filter(({ name }) => name === 'CanaryFailing') as [Alarm];
  const label = `InferenceGateway-dev ${canaryMetrics.failures.name}`;
  const runs = (...failures: readonly (number | undefined)[]) =>
    statesOf(
      alarm,
      failures.map((count) => ({ [label]: count === undefined ? [] : [count] })),
    );
  const silent = undefined;
  expect(runs(0, 0, 0, 0, 3, 0)).toEqual([false, false]);
  expect(runs(1, 0, silent, silent, 0, 2)).toEqual([false, false]);
  expect(runs(0, 0, 0, 1, 2, 1)).toEqual([false, true]);
  expect(runs(0, 0, 0, silent, silent, silent)).toEqual([false, true]);
  // A metric without any data has no gaps for the alarm's expression to fill.
  expect(alarm.silenceRings).toBe(true);
});

test('the dashboard has every metric, and with prices one more question, in their currency', () => {
  const text: string = synthesizeParts({ PRICES, CURRENCY: 'EUR' }).parts['Dashboard/Dashboard'].DashboardBody;
  const watched = usual.flatMap((alarm) => Object.values(alarm.watched).map(({ label }) => label.split(' ')[1]));
  for (const name of [...Object.values(metrics).map((metric) => metric.name), ...watched]) expect(text).toContain(name);
  const { widgets } = JSON.parse(text);
  const properties: { markdown?: string; title?: string }[] = widgets.map(
    (widget: { properties: object }) => widget.properties,
  );
  expect(properties.flatMap(({ markdown = [] }) => markdown).at(-1)).toBe('## What do answers cost?');
  expect(properties.flatMap(({ title = '' }) => (title.includes('EUR') ? [title] : []))).toEqual([
    'Spent a day, by model (EUR)',
    'Saved by caches a day (EUR)',
    'Most spent by (EUR)',
  ]);
  expect(text).toContain(`SEARCH('{\\"InferenceGateway-dev\\",Model} MetricName=\\"Spent\\"', 'Sum', 86400)`);
});

/** The operator's own web ACL, from docs/web-acl.json. */
const { Name: aclName, ...acl } = JSON.parse(readFileSync('docs/web-acl.json', 'utf8'));
const edgeWebAclArn = `arn:aws:wafv2:us-east-1:123456789012:global/webacl/${aclName}/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab`;

const { stack: edgeStack, template: edgeTemplate } = synthesizeEdgeAlarms();
const edgeAlarms = readAlarms(edgeTemplate.toJSON());
const withWebAcl = readAlarms(synthesizeEdgeAlarms({ edgeWebAclArn }).template.toJSON());

test('the edge’s alarms are a stack in us-east-1 for each stage', () => {
  expect([edgeStack.region, edgeStack.stackName]).toEqual(['us-east-1', 'InferenceGateway-prod-edge-alarms']);
});

/** An hour at the edge: the rates of failing responses, and the alarms that ring after ten minutes. */
function rings(perMinute: number, rates: Readonly<Record<string, number>>, given = edgeAlarms): string[] {
  const requests = perMinute * 5;
  const label = (name: string) => `AWS/CloudFront ${name} DistributionId=E123456789 Region=Global`;
  const shares = ['4xx', '5xx', '403', '503', '504'].map((each) => [label(`${each}ErrorRate`), [rates[each] ?? 0]]);
  const figures = {
    ...Object.fromEntries(shares),
    [label('Requests')]: [requests],
    // A web ACL that blocks nothing reports no data.
    ...(rates.blocked && {
      [`AWS/WAFV2 BlockedRequests Rule=ALL WebACL=${aclName}`]: [(requests * rates.blocked) / 100],
    }),
  };
  const rung = given.map((alarm) => [alarm.name, statesOf(alarm, Array(12).fill(figures)).indexOf(true)] as const);
  expect(rung.filter(([, period]) => period >= 0 && period !== 1)).toEqual([]);
  return rung.flatMap(([name, period]) => (period === 1 ? [name] : []));
}

test.each<[string, number, object, string[]]>([
  ['a healthy edge', 60, { '4xx': 8, '5xx': 1 }, []],
  ['scanners, who get 404', 100, { '4xx': 100 }, []],
  ['few requests of which half fail', 1, { '5xx': 50, 504: 50, 403: 50 }, []],
  ["a gateway that can't be reached", 60, { '5xx': 100 }, ['EdgeFailing']],
  ['a gateway that is stopped on purpose', 60, { '5xx': 100, 503: 100 }, []],
  ['plain answers that take too long', 60, { '5xx': 6, 504: 6 }, ['EdgeTimingOut']],
  ['an origin that refuses everybody', 60, { '4xx': 70, 403: 65 }, ['EdgeRefusing']],
])('at the edge, %s', (_what, perMinute, rates, expected) => {
  expect(rings(perMinute, { ...rates })).toEqual(expected);
  expect(rings(perMinute, { ...rates }, withWebAcl)).toEqual(expected);
});

test.each<[string, number, object, string[]]>([
  ['blocks callers with 429, as docs/web-acl.json does', 60, { '4xx': 70, blocked: 65 }, ['EdgeRefusing']],
  ['blocks callers with 403', 60, { '4xx': 70, 403: 65, blocked: 65 }, ['EdgeRefusing']],
  ['blocks two of five with 403, each counted once', 60, { '4xx': 45, 403: 40, blocked: 40 }, []],
  ['lets callers through to a limit of the gateway, which also answers 429', 60, { '4xx': 90 }, []],
  ['blocks half of a few requests', 1, { '4xx': 50, blocked: 50 }, []],
])('a web ACL that %s', (_what, perMinute, rates, expected) => {
  expect(rings(perMinute, { ...rates }, withWebAcl)).toEqual(expected);
});

test('the web ACL of the docs reports under its name, by which the alarm finds it', () => {
  expect(acl.VisibilityConfig).toMatchObject({ CloudWatchMetricsEnabled: true, MetricName: aclName });
});

test('the metrics of the edge are on the dashboard with the costs of the edge and the page', () => {
  const text: string = synthesizeParts({ edge: true }).parts['Dashboard/Dashboard'].DashboardBody;
  const watched = edgeAlarms.flatMap((alarm) =>
    Object.values(alarm.watched).map(({ label }) => label.split(' ')[1] ?? ''),
  );
  const paid = ['requests at the edge', 'transfer at the edge', 'invocations of /cli'];
  for (const name of [...watched, ...paid, '4xxErrorRate', 'BytesDownloaded']) expect(text).toContain(name);
});
