import { expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import type { Template } from '../../../lib/diff/template.ts';
import { everyChange } from '../../support/template-changes.ts';
import { synthesizeWhole } from '../../support/whole-template.ts';

const freely = 'removed, another text';

/** The settings of functions that must not change unnoticed; all others may. */
const guarded = [
  ...['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'METRICS_NAMESPACE'],
  ...['CANARY_URL', 'CANARY_SECRET_ID'],
  ...['EDGE_HEADER', 'EDGE_SECRET_ID', 'SERVICE_NAME'],
  ...['UPSTREAM_BASE_URL', 'UPSTREAM_2_BASE_URL', 'UPSTREAM_NAMES', 'UPSTREAM_CALLER_IDS'],
  ...['APP_URL', 'DAILY_LIMIT'],
];

/** Settings that may be tuned or fall back to a default, but not become text: figures.unit.test.ts has how far. */
const tuned = [
  ...[
    'GUEST_LIMIT',
    'MEMBER_LIMIT',
    'BURST_LIMIT',
    'GUEST_DAILY_LIMIT',
    'MEMBER_BUDGET_WINDOW',
    'RESERVED_OUTPUT',
    'REQUEST_BODY_LIMIT',
    'IDENTITY_CACHE_SECONDS',
    'OIDC_GROUPS_CLAIM',
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
 * Everything in the whole template that may change without a mark, and how. This repeats the gate's rules by hand, so that
 * anything more that the gate comes to let pass fails this test.
 */
const passes = {
  ...Object.fromEntries(settings),
  'AWS::Lambda::Function Code.S3Key': freely,
  'AWS::Lambda::Function DependsOn': 'removed, one more element, no elements',
  'AWS::Lambda::Function DependsOn[]': freely,
  'AWS::Lambda::Function Description': freely,
  'AWS::Lambda::Function MemorySize': 'more, removed, nothing', // below what bodies take, only where there are none
  'AWS::Lambda::Function Timeout': 'more, far more',
  'AWS::Logs::LogGroup RetentionInDays': 'more',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions': 'one more element',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions[]': 'one more member',
  'AWS::DynamoDB::GlobalTable GlobalSecondaryIndexes': 'one more element',
  'AWS::DynamoDB::GlobalTable Replicas[].GlobalSecondaryIndexes': 'one more element',
  'AWS::SecretsManager::Secret Description': freely,
  'AWS::IAM::Policy PolicyName': freely,
  'AWS::SNS::TopicPolicy PolicyDocument.Statement': 'one more element', // text, which is not a statement
  'AWS::SNS::TopicPolicy PolicyDocument.Statement[].Sid': freely,
  'AWS::CloudWatch::Alarm AlarmActions': 'one more element',
  'AWS::CloudWatch::Alarm AlarmDescription': freely,
  'AWS::CloudWatch::Alarm OKActions': 'removed, one more element, no elements',
  'AWS::CloudWatch::Alarm OKActions[]': 'removed, one more member',
  'AWS::CloudWatch::Alarm OKActions[].Ref': freely,
  'AWS::CloudWatch::Alarm Threshold': 'more', // of the one alarm that depends on the share of executions
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

test('every change of every value is marked, except those known to be harmless', () => {
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

/** All of the dashboard's body may change, which is one long text; the CDK's metadata is not deployed. */
function withoutNotes({ Resources = {}, ...others }: Template): Template {
  const plain = Object.entries(Resources).map(([id, { Metadata: _metadata, ...resource }]) => {
    const isDashboard = resource.Type === 'AWS::CloudWatch::Dashboard';
    return [id, isDashboard ? { ...resource, Properties: { DashboardBody: '{}' } } : resource];
  });
  return { ...others, Resources: Object.fromEntries(plain) };
}
