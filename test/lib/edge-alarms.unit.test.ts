import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readAlarms, statesOf } from '../support/alarms.ts';
import { synthesizeEdgeAlarms, synthesizeParts } from '../support/stack.ts';

/** The account's own, from docs/web-acl.json. */
const { Name: aclName, ...acl } = JSON.parse(readFileSync('docs/web-acl.json', 'utf8'));
const edgeWebAclArn = `arn:aws:wafv2:us-east-1:123456789012:global/webacl/${aclName}/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab`;

const { stack, template } = synthesizeEdgeAlarms();
const alarms = readAlarms(template.toJSON());
const withWebAcl = readAlarms(synthesizeEdgeAlarms({ edgeWebAclArn }).template.toJSON());

test('is a stack in us-east-1 for each stage', () => {
  expect([stack.region, stack.stackName]).toEqual(['us-east-1', 'InferenceGateway-prod-edge-alarms']);
});

/** An hour at the edge: the percentages of answers that fail, and the alarms that ring after ten minutes. */
function rings(perMinute: number, rates: Readonly<Record<string, number>>, given = alarms): string[] {
  const requests = perMinute * 5;
  const label = (name: string) => `AWS/CloudFront ${name} DistributionId=E123456789 Region=Global`;
  const shares = ['4xx', '5xx', '403', '503', '504'].map((each) => [label(`${each}ErrorRate`), [rates[each] ?? 0]]);
  const figures = {
    ...Object.fromEntries(shares),
    [label('Requests')]: [requests],
    // A web ACL that blocks nothing reports nothing.
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
])('%s', (_what, perMinute, rates, expected) => {
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

test('their metrics are on the dashboard with the costs of the edge and the page', () => {
  const text: string = synthesizeParts({ edge: true }).parts['Dashboard/Dashboard'].DashboardBody;
  const watched = alarms.flatMap((alarm) => Object.values(alarm.watched).map(({ label }) => label.split(' ')[1] ?? ''));
  const paid = ['requests at the edge', 'transfer at the edge', 'invocations of /cli'];
  for (const name of [...watched, ...paid, '4xxErrorRate', 'BytesDownloaded']) expect(text).toContain(name);
});
