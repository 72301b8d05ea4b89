import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Template } from 'aws-cdk-lib/assertions';
import { App } from 'aws-cdk-lib/core';
import { readDeploymentConfig } from '../../lib/config.ts';
import { EdgeAlarmsStack } from '../../lib/edge-alarms-stack.ts';
import { listen } from '../alarms/simulator/listen.ts';
import { createMetricStore } from '../alarms/simulator/metric-store.ts';
import { readAlarms } from '../alarms/simulator/read-alarms.ts';
import { anchorsIn } from '../docs/markdown.ts';
import { least, synthesizeStack } from '../support/stack.ts';

const settings = { ...least, edge: true, alarmEmail: 'on-call@example.com' };
const config = readDeploymentConfig({ defaults: settings, stages: { prod: {} } }, 'prod');
const stack = new EdgeAlarmsStack(new App({ builtinCloudFormationValidation: false }), 'EdgeAlarms', {
  config,
  distributionId: 'E123456789',
});
const template = Template.fromStack(stack);
const alarms = readAlarms(template.toJSON());
const Dimensions = [
  { Name: 'DistributionId', Value: 'E123456789' },
  { Name: 'Region', Value: 'Global' },
];

test('is a stack in us-east-1 for each stage, with its own topic that mails the same address', () => {
  expect([stack.region, stack.stackName]).toEqual(['us-east-1', 'InferenceGateway-prod-edge-alarms']);
  template.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'on-call@example.com' });
  const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
  const headings = anchorsIn(readFileSync('docs/operations.md', 'utf8'));
  for (const { Properties } of Object.values(template.findResources('AWS::CloudWatch::Alarm'))) {
    expect(Properties.AlarmActions).toEqual([{ Ref: topic }]);
    const [, runbook = ''] = /docs\/operations\.md#([a-z-]+)$/.exec(Properties.AlarmDescription) ?? [];
    expect(headings).toContain(runbook);
  }
});

/** A busy hour at the edge between quiet ones: the percentages of answers that fail, and the alarms that ring. */
function rings(perMinute: number, rates: Readonly<Record<string, number>>): string[] {
  const store = createMetricStore();
  const send = (minute: number, MetricName: string, value: number) =>
    store.add(minute, { Namespace: 'AWS/CloudFront', MetricName, Dimensions }, value);
  for (let minute = 0; minute < 180; minute += 1) {
    send(minute, 'Requests', perMinute);
    for (const status of ['4xx', '5xx', '403', '503', '504'])
      send(minute, `${status}ErrorRate`, minute >= 60 && minute < 120 ? (rates[status] ?? 0) : 0);
  }
  return Object.keys(listen(alarms, store, 180)).map((name) => name.replace(/[0-9A-F]{8}$/, ''));
}

test.each<[string, number, object, string[]]>([
  ['a healthy edge', 60, { '4xx': 8, '5xx': 1 }, []],
  ['scanners, who get 404', 100, { '4xx': 100 }, []],
  ['few requests of which half fail', 1, { '5xx': 50, 504: 50, 403: 50 }, []],
  ["a gateway that can't be reached", 60, { '5xx': 100 }, ['EdgeFailing']],
  ['a gateway that is stopped on purpose', 60, { '5xx': 100, 503: 100 }, []],
  ['plain answers that take too long', 60, { '5xx': 6, 504: 6 }, ['EdgeTimingOut']],
  ['a web ACL that blocks callers', 60, { '4xx': 70, 403: 65 }, ['EdgeRefusing']],
])('%s', (_what, perMinute, rates, expected) => {
  expect(rings(perMinute, { ...rates })).toEqual(expected);
});

test('their metrics are published, and on the dashboard with the costs of the edge and the page', () => {
  const { template: whole } = synthesizeStack({ edge: true });
  whole.hasResourceProperties('AWS::CloudFront::MonitoringSubscription', {
    MonitoringSubscription: { RealtimeMetricsSubscriptionConfig: { RealtimeMetricsSubscriptionStatus: 'Enabled' } },
  });
  const [dashboard] = Object.values(whole.findResources('AWS::CloudWatch::Dashboard'));
  const text = JSON.stringify(dashboard);
  const watched = alarms.flatMap(({ metrics }) => Object.values(metrics).map(({ metric }) => metric.MetricName));
  for (const name of [...watched, '4xxErrorRate', 'BytesDownloaded']) expect(text).toContain(name);
  for (const label of ['requests at the edge', 'transfer at the edge', 'invocations of /cli'])
    expect(text).toContain(label);
  expect(JSON.stringify(synthesizeStack().template.toJSON())).not.toContain('AWS/CloudFront');
});
