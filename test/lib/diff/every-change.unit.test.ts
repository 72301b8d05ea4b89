import { expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { guarantees } from '../../../lib/diff/guarantees/index.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import type { Template } from '../../../lib/diff/template.ts';
import { type AnyTree, everyChange } from '../../support/template-changes.ts';
import { synthesizeWhole, synthesizeWithBothEngines } from '../../support/whole-template.ts';

const freely = 'removed, another text';

/** The functions' settings that must not change unnoticed; all others may. */
const guarded = [
  ...['KEYS_TABLE', 'QUOTA_TABLE', 'NETWORK_SALT_SECRET_ID', 'UPSTREAM_SECRET_ID', 'METRICS_NAMESPACE'],
  ...['CANARY_URL', 'CANARY_SECRET_ID'],
  ...['EDGE_HEADER', 'EDGE_SECRET_ID', 'SERVICE_NAME'],
  ...['UPSTREAM_BASE_URL', 'UPSTREAM_2_BASE_URL', 'UPSTREAM_NAMES', 'UPSTREAM_CALLER_IDS'],
  ...['APP_URL', 'DAILY_LIMIT', 'CLIENT_ADDRESS', 'CORS_ORIGINS', 'MEMBER_BUDGET_WINDOW'],
  ...['OIDC_GROUPS_CLAIM', 'OIDC_ALLOW_ALL'],
];

/** Settings that may be tuned or reset to their default, but must stay numbers: figures.unit.test.ts has the bounds. */
const tuned = [
  ...['GUEST_LIMIT', 'MEMBER_LIMIT', 'BURST_LIMIT', 'GUEST_DAILY_LIMIT', 'RESERVED_OUTPUT'],
  ...['REQUEST_BODY_LIMIT', 'IDENTITY_CACHE_SECONDS'],
  ...['UPSTREAM_CONNECT_TIMEOUT', 'UPSTREAM_IDLE_TIMEOUT', 'REQUEST_TIMEOUT', 'KEEP_ALIVE_INTERVAL'],
  ...['BODY_BUDGET', 'SHUTDOWN_GRACE'],
];

/** A deployment in use, and a web function beside one, because the gate judges part by part. */
const bases = [
  withoutNotes(synthesizeWhole({ UPSTREAM_CALLER_IDS: 'hash' })),
  withoutNotes(
    synthesizeWithBothEngines({ UPSTREAM_CALLER_IDS: 'hash' }),
    /^(AWS::Lambda::WebFunction|AWS::S3::|Custom::)/,
  ),
];

const settings = bases.flatMap(({ Resources = {} }) =>
  Object.values<AnyTree>(Resources).flatMap(({ Type, Properties = {} }) => {
    const [at, variables = {}] =
      Type === 'AWS::Lambda::Function'
        ? ['Environment.Variables', Properties.Environment?.Variables]
        : ['ServiceConfig.EnvironmentVariables', Properties.ServiceConfig?.EnvironmentVariables];
    return Object.keys(variables)
      .filter((name) => !guarded.includes(name))
      .map((name) => [`${Type} ${at}.${name}`, tuned.includes(name) ? 'removed' : freely] as const);
  }),
);

/**
 * Every change in the templates that may pass unmarked. This repeats the gate's rules by hand, so that this test fails if the
 * gate lets anything more pass.
 */
const passes = {
  ...Object.fromEntries(settings),
  'AWS::Lambda::Function Code.S3Key': freely,
  'AWS::Lambda::Function DependsOn': 'removed, one more element, no elements',
  'AWS::Lambda::Function DependsOn[]': freely,
  'AWS::Lambda::Function Description': freely,
  'AWS::Lambda::Function MemorySize': 'more, removed', // only where no bodies are read, because Lambda's default is small
  'AWS::Lambda::Function Timeout': 'more, far more',
  'AWS::Logs::LogGroup RetentionInDays': 'more',
  'AWS::DynamoDB::GlobalTable AttributeDefinitions': 'one more element',
  'AWS::DynamoDB::GlobalTable GlobalSecondaryIndexes': 'one more element',
  'AWS::DynamoDB::GlobalTable Replicas[].GlobalSecondaryIndexes': 'one more element',
  'AWS::SecretsManager::Secret Description': freely,
  'AWS::IAM::Policy PolicyName': freely,
  'AWS::SNS::TopicPolicy PolicyDocument.Statement': 'one more element', // a string, which is not a statement
  'AWS::SNS::TopicPolicy PolicyDocument.Statement[].Sid': freely,
  'AWS::CloudWatch::Alarm AlarmActions': 'one more element',
  'AWS::CloudWatch::Alarm AlarmDescription': freely,
  'AWS::CloudWatch::Alarm OKActions': 'removed, one more element, no elements',
  'AWS::CloudWatch::Alarm OKActions[]': 'removed, one more member',
  'AWS::CloudWatch::Alarm OKActions[].Ref': freely,
  'AWS::CloudWatch::Dashboard Properties': 'removed',
  'AWS::CloudWatch::Dashboard DashboardBody': freely,
  'AWS::Events::Rule Description': freely,
  'AWS::CloudFront::Distribution DistributionConfig.Aliases': 'one more element',
  'AWS::CloudFront::Distribution DistributionConfig.Comment': freely,
  'AWS::CloudFront::Distribution DistributionConfig.Origins[].CustomOriginConfig.OriginReadTimeout': 'more, far more',
  'AWS::Lambda::WebFunctionRevision Description': freely,
  'AWS::Lambda::WebFunctionRevision ServiceConfig.MaxConcurrencyPerEnvironment': 'removed, more',
  'AWS::Lambda::WebFunctionRevision ServiceConfig.TimeoutSeconds': 'more, far more',
  'AWS::Lambda::WebFunctionEndpoint ScalingConfig.MaxEnvironments': 'more',
  'AWS::Lambda::WebFunctionEndpoint ThrottleConfig.RateLimit': 'more',
  // Changes that CloudFormation would refuse.
  'AWS::S3::BucketPolicy PolicyDocument.Statement': 'one more element',
  'AWS::S3::BucketPolicy PolicyDocument.Statement[].Resource.Fn::Join': 'one more element',
  'AWS::S3::BucketPolicy PolicyDocument.Statement[].Resource[].Fn::Join': 'one more element',
  'Custom::S3ObjectCopy ContentHash': freely,
  'Custom::S3ObjectCopy SourceObjectKey': freely,
  Description: freely,
  Outputs: 'one more member',
  'Stack.tags': 'removed, one more member',
  'Stack.tags.service': freely,
  'Stack.tags.stage': freely,
};

/** The guarantees about what is not in these templates, by hand as well; gate.unit.test.ts and figures.unit.test.ts test them. */
const unbroken = [
  ...[
    'ACCESS',
    'AuthType',
    'EDGE_ONLY',
    'GATEWAY_URL',
    'GUEST_WINDOW',
    'HIDE_IN_TEXT',
    'MEMBER_BUDGET',
    'ManagedPolicyArns',
    'PRICES',
  ],
  ...['RecoveryPeriodInDays', 'Role', 'RoleArn', 'SPEND_LIMIT', 'UPSTREAM*_HEADERS', 'UPSTREAM*_SIGNS_THINKING'],
];

/** A revision's copy of the code only says what is copied, and to where. `DependsOn` may change as well. */
const free = /^Custom::S3ObjectCopy Configuration|^(Custom|AWS::Lambda::WebFunction).* DependsOn/;

const unmarked = new Map<string, Set<string>>();
const said = new Set<string>();
const tried = bases.map((base) => {
  const changes = [...everyChange(base)].filter(({ place }) => !free.test(place));
  for (const { place, how, after } of changes) {
    const dangers = findDangers(compareTemplates(base, after));
    for (const { what } of dangers) said.add(what);
    if (dangers.length === 0) unmarked.set(place, (unmarked.get(place) ?? new Set()).add(how));
  }
  return changes.length;
});

test('every change of every value is marked, except those known to be harmless', () => {
  const found = [...unmarked].map(([place, hows]) => [place, [...hows].join(', ')]);
  expect(Object.fromEntries(found)).toEqual(passes);
  expect(settings.length).toBeGreaterThan(50);
  expect(Math.min(...tried)).toBeGreaterThan(400);
});

test('each guarantee can be broken by such a change, and is then named', () => {
  const silent = guarantees.filter(({ property, otherwise }) => !said.has(`no longer ${property}: ${otherwise}`));
  expect([...new Set(silent.map(({ at }) => at.split('.').at(-1)))].sort()).toEqual(unbroken);
});

/**
 * All of the dashboard's body may change, and it is one long string; the CDK's metadata is not deployed; and an alarm in which
 * nothing can change that could not change in those before it is represented by them.
 */
function withoutNotes({ Resources = {}, ...others }: Template, only?: RegExp): Template {
  const changeable = new Set<string>();
  const plain = Object.entries(Resources).flatMap(([id, { Metadata: _metadata, ...resource }]) => {
    if (only && !only.test(resource.Type)) return [];
    if (resource.Type === 'AWS::CloudWatch::Alarm') {
      const changes = [...everyChange({ Resources: { [id]: resource } })].map(({ place, how }) => `${place} ${how}`);
      if (changes.every((change) => changeable.has(change))) return [];
      for (const change of changes) changeable.add(change);
    }
    const isDashboard = resource.Type === 'AWS::CloudWatch::Dashboard';
    return [[id, isDashboard ? { ...resource, Properties: { DashboardBody: '{}' } } : resource]];
  });
  return { ...(only ? {} : others), Resources: Object.fromEntries(plain) };
}
