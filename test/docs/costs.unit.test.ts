import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { catalogue } from '../../lambda/errors.ts';
import { metrics } from '../../lambda/report/metrics.ts';
import { failureClasses } from '../../lambda/upstream/failure.ts';
import { synthesizeEdgeAlarms, synthesizeStack } from '../support/stack.ts';

const page = readFileSync('docs/hosting.md', 'utf8');

/**
 * List prices of us-east-1 in US dollars, first tier, without the free tier, from https://aws.amazon.com/lambda/pricing/ and the like
 * for each service. Tables on demand, functions, URLs, topics and log groups cost nothing while nobody calls.
 */
const price = {
  ...{ gigabyteSecond: 0.0000133334, millionInvocations: 0.2, millionWrites: 0.625, millionReads: 0.125 },
  ...{ gigabyteLogged: 0.5, gigabyteSent: 0.09, metric: 0.3, watchedMetric: 0.1, dashboard: 3 },
  ...{ secret: 0.4, tenThousandSecretReads: 0.05 },
};
const month = 730; // hours
/** The gateway's line with its metrics, and Lambda's own lines about the invocation. */
const logBytes = 850 + 350;
const usualMemory = 512;

const dollars = (value: number) =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

/** What costs money while nobody calls, in all of these templates. */
function countPaid(...templates: readonly Template[]) {
  const count = (type: string) => templates.flatMap((each) => Object.values(each.findResources(type)));
  const watched = count('AWS::CloudWatch::Alarm').flatMap(({ Properties }) => {
    const parts: readonly { readonly MetricStat?: object }[] = Properties.Metrics ?? [{ MetricStat: {} }];
    return parts.filter(({ MetricStat }) => MetricStat !== undefined);
  });
  const secrets = count('AWS::SecretsManager::Secret').length;
  const dashboards = count('AWS::CloudWatch::Dashboard').length;
  const standing = secrets * price.secret + watched.length * price.watchedMetric + dashboards * price.dashboard;
  return { secrets, watched: watched.length, dashboards, standing };
}

const usual = synthesizeStack().template;
const paid = countPaid(usual);

test('what stands idle is counted in the template, and has its price', () => {
  const { secrets, watched, dashboards, standing } = paid;
  const tables = Object.keys(usual.findResources('AWS::DynamoDB::GlobalTable')).length;
  const free = 'of an account are free';
  expect(page).toContain(`
| ${secrets} secrets | ${dollars(secrets * price.secret)} |
| alarms on ${watched} metrics (the first 10 ${free}) | ${dollars(watched * price.watchedMetric)} |
| ${dashboards} dashboard (the first 3 ${free}) | ${dollars(dashboards * price.dashboard)} |
| ${tables} tables on demand, functions, URLs, topic, log groups | $0.00 |
| **all of that, without a single request** | **${dollars(standing)}** |
| in an account that has not used up its free alarms and dashboards | ${dollars(standing - 10 * price.watchedMetric - price.dashboard)} |
`);
  for (const type of ['AWS::KMS::Key', 'AWS::CloudFront::Distribution', 'AWS::WAFv2::WebACL', 'AWS::EC2::NatGateway'])
    usual.resourceCountIs(type, 0);
});

test('the canary adds its resources, and three short streams every five minutes', () => {
  const { template } = synthesizeStack({ canary: true });
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  template.hasResourceProperties('AWS::Lambda::Function', { MemorySize: 256, Timeout: 60 });
  const [runs, requests, seconds] = [month * 12, 3, 3];
  const asking =
    price.metric +
    runs * seconds * ((256 + usualMemory) / 1024) * price.gigabyteSecond +
    ((runs * (1 + requests)) / 1e6) * price.millionInvocations +
    (runs / 1e4) * price.tenThousandSecretReads +
    ((runs * (requests + 1) * logBytes) / 1e9) * price.gigabyteLogged +
    (runs / 1e6) * price.millionWrites;
  const added = countPaid(template).standing - paid.standing + asking;
  expect(page).toContain(`| with the canary, besides what the upstream bills | + ${dollars(added)} |`);
});

test('the edge adds its resources, its alarms in us-east-1, and eight metrics that CloudFront publishes only if asked', () => {
  const { standing } = countPaid(synthesizeStack({ edge: true }).template, synthesizeEdgeAlarms().template);
  const added = standing - paid.standing + 8 * price.metric;
  expect(page).toContain(`| with an edge, besides a web ACL | + ${dollars(added)} |`);
});

test('metrics are as many as codes, classes and models can make, and an environment reads a secret once a minute', () => {
  const classes = Object.values(failureClasses).filter(({ code }) => catalogue[code].status >= 500);
  const values = { Code: Object.keys(catalogue).length, Class: classes.length, Model: 2 };
  const count = Object.values(metrics).reduce((sum, one) => sum + ('dimension' in one ? values[one.dimension] : 1), 0);
  const reads = ((60 * month) / 1e4) * price.tenThousandSecretReads;
  expect(page).toContain(`
| if all ${count} metrics have a value in every hour | + ${dollars(count * price.metric)} |
| for each environment in use all month, which reads a secret once a minute | + ${dollars(reads)} |
`);
});

/** Dollars for a million streams: each writes its counter once, and reads a key that is not cached. */
function costOfMillion(seconds: number, memory: number) {
  const compute = 1e6 * seconds * (memory / 1024) * price.gigabyteSecond + price.millionInvocations;
  // Forty events a second, of 230 bytes each.
  const transfer = ((1e6 * seconds * 40 * 230) / 1e9) * price.gigabyteSent;
  const logs = ((1e6 * logBytes) / 1e9) * price.gigabyteLogged;
  return { transfer, whole: compute + transfer + logs + price.millionWrites + price.millionReads };
}

test('a million streams cost their time, most of all', () => {
  usual.hasResourceProperties('AWS::Lambda::Function', { MemorySize: usualMemory, Architectures: ['arm64'] });
  const rows = [2, 10, 30, 60, 300].map((seconds) => {
    const whole = [256, 512, 1024].map((memory) => dollars(costOfMillion(seconds, memory).whole));
    return `| streams of ${seconds} s | ${whole.join(' | ')} | ${dollars(costOfMillion(seconds, usualMemory).transfer)} |`;
  });
  expect(page).toContain(`\n${rows.join('\n')}\n`);
  expect(page).toContain(`and another to its refund: ${dollars(price.millionWrites)} for a million.`);
});
