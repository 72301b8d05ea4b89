import { expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/compare-templates.ts';
import { findDangers } from '../../../lib/diff/find-dangers.ts';
import type { Template } from '../../../lib/diff/template.ts';
import { everyChange } from '../../support/template-changes.ts';
import { synthesizeWhole } from '../../support/whole-template.ts';

const freely = 'removed, another text';

/** The settings of functions that must not change unseen; all others may. */
const guarded = [
  ...['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'METRICS_NAMESPACE'],
  ...['CANARY_URL', 'CANARY_SECRET_ID'],
  ...['EDGE_HEADER', 'EDGE_SECRET_ID', 'SERVICE_NAME'],
  ...['UPSTREAM_BASE_URL', 'UPSTREAM_2_BASE_URL', 'UPSTREAM_NAMES', 'UPSTREAM_CALLER_IDS'],
  ...['APP_URL', 'DAILY_LIMIT'],
];

/** What may be tuned, or fall back, but never be another text: how far is in figures.unit.test.ts. */
const tuned = [
  ...[
    'GUEST_LIMIT',
    'MEMBER_LIMIT',
    'BURST_LIMIT',
    'GUEST_DAILY_LIMIT',
    'REQUEST_BODY_LIMIT',
    'IDENTITY_CACHE_SECONDS',
  ],
  ...['UPSTREAM_CONNECT_TIMEOUT', 'UPSTREAM_IDLE_TIMEOUT', 'REQUEST_TIMEOUT', 'KEEP_ALIVE_INTERVAL', 'CORS_ORIGINS'],
];

const base = withoutNotes(synthesizeWhole({ UPSTREAM_CALLER_IDS: 'hash' }));

const variables = Object.values(base.Resources ?? {}).flatMap(({ Properties }) => {
  const { Environment } = (Properties ?? {}) as { readonly Environment?: { readonly Variables?: object } };
  return Object.keys(Environment?.Variables ?? {});
});
const settings = variables
  .filter((name) => !guarded.includes(name))
  .map((name) => [`AWS::Lambda::Function Environment.Variables.${name}`, tuned.includes(name) ? 'removed' : freely]);

/**
 * Everything of the whole template that may change without a mark, and how. It is written down here a second time, by hand:
 * what the gate comes to let pass beyond it fails this test.
 */
const passes = {
  ...Object.fromEntries(settings),
  'AWS::Lambda::Function Code.S3Key': freely,
  'AWS::Lambda::Function DependsOn': 'removed, one more element, no elements',
  'AWS::Lambda::Function DependsOn[]': freely,
  'AWS::Lambda::Function Description': freely,
  'AWS::Lambda::Function MemorySize': 'removed, more, nothing',
  'AWS::Lambda::Function Timeout': 'more, far more',
  'AWS::Logs::LogGroup RetentionInDays': 'more',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions': 'one more element',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions[]': 'one more member',
  'AWS::DynamoDB::GlobalTable GlobalSecondaryIndexes': 'one more element',
  'AWS::DynamoDB::GlobalTable Replicas[].GlobalSecondaryIndexes': 'one more element',
  'AWS::SecretsManager::Secret Description': freely,
  'AWS::IAM::Policy PolicyName': freely,
  'AWS::SNS::TopicPolicy PolicyDocument.Statement': 'one more element', // a text, which is no statement
  'AWS::SNS::TopicPolicy PolicyDocument.Statement[].Sid': freely,
  'AWS::CloudWatch::Alarm AlarmActions': 'one more element',
  'AWS::CloudWatch::Alarm AlarmDescription': freely,
  'AWS::CloudWatch::Alarm OKActions': 'removed, one more element, no elements',
  'AWS::CloudWatch::Alarm OKActions[]': 'removed, one more member',
  'AWS::CloudWatch::Alarm OKActions[].Ref': freely,
  'AWS::CloudWatch::Alarm Threshold': 'more', // of the one alarm that follows the share of executions
  'AWS::CloudWatch::Dashboard Properties': 'removed',
  'AWS::CloudWatch::Dashboard DashboardBody': freely,
  'AWS::Events::Rule Description': freely,
  'AWS::CloudFront::Distribution DistributionConfig.Aliases': 'one more element',
  'AWS::CloudFront::Distribution DistributionConfig.Comment': freely,
  'AWS::CloudFront::Distribution DistributionConfig.Origins[].CustomOriginConfig.OriginReadTimeout': 'more, far more',
  Description: freely,
  Outputs: 'one more member',
  'Stack.tags': 'removed, one more member',
  'Stack.tags.service': freely,
  'Stack.tags.stage': freely,
};

test('every change of every value is marked, but for those that are known to be harmless', () => {
  const unmarked = new Map<string, Set<string>>();
  let tried = 0;
  for (const { place, how, after } of everyChange(base)) {
    tried += 1;
    if (findDangers(compareTemplates(base, after)).length > 0) continue;
    unmarked.set(place, (unmarked.get(place) ?? new Set()).add(how));
  }
  const found = [...unmarked].map(([place, hows]) => [place, [...hows].join(', ')]);
  expect(Object.fromEntries(found)).toEqual(passes);
  expect(settings.length).toBeGreaterThan(10);
  expect(tried).toBeGreaterThan(2_000);
});

/** The dashboard's body is one long text, of which all may change; what the CDK notes is deployed nowhere. */
function withoutNotes({ Resources = {}, ...others }: Template): Template {
  const plain = Object.entries(Resources).map(([id, { Metadata: _metadata, ...resource }]) => {
    const isDashboard = resource.Type === 'AWS::CloudWatch::Dashboard';
    return [id, isDashboard ? { ...resource, Properties: { DashboardBody: '{}' } } : resource];
  });
  return { ...others, Resources: Object.fromEntries(plain) };
}
