import { expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { keysSchema, quotaSchema } from '../../lambda/tables/schema.ts';
import { PRICES } from '../support/prices.ts';
import { findId, synthesizeStack } from '../support/stack.ts';
import { synthesizeWhole } from '../support/whole-template.ts';

const { template, stack, acknowledged } = synthesizeStack();
const idOf = (type: string, prefix: string) => findId(template, type, prefix);
const ids = {
  keys: idOf('AWS::DynamoDB::GlobalTable', 'TablesKeys'),
  quota: idOf('AWS::DynamoDB::GlobalTable', 'TablesQuota'),
  upstream: idOf('AWS::SecretsManager::Secret', 'SecretsUpstream'),
  networkSalt: idOf('AWS::SecretsManager::Secret', 'SecretsNetworkSalt'),
  logs: idOf('AWS::Logs::LogGroup', 'Gateway'),
  role: idOf('AWS::IAM::Role', 'Gateway'),
};
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

test("follows AWS's rules for solutions, except those that are acknowledged with a reason", () => {
  expect(acknowledged).toEqual(['AwsSolutions-SMG4']);
});

test("follows the CDK's own rules even with everything turned on", () => {
  const { Resources = {} } = synthesizeWhole({}, true);
  expect(Object.keys(Resources).length).toBeGreaterThan(30);
});

test('is a separate stack for each stage, tagged, and protected if the stage says so', () => {
  expect([stack.stackName, stack.terminationProtection]).toEqual(['InferenceGateway-dev', false]);
  expect(stack.tags.tagValues()).toEqual({ service: 'svc', stage: 'dev' });
  expect(synthesizeStack({ terminationProtection: true }).stack.terminationProtection).toBe(true);
});

test('the function shares the account’s executions and is not traced, unless a setting says otherwise', () => {
  template.hasResourceProperties('AWS::Lambda::Function', {
    ReservedConcurrentExecutions: Match.absent(),
    TracingConfig: Match.absent(),
  });
  const other = synthesizeStack({ reservedConcurrency: 50, tracing: true, logRetentionDays: 7 });
  other.template.hasResourceProperties('AWS::Lambda::Function', {
    ReservedConcurrentExecutions: 50,
    TracingConfig: { Mode: 'Active' },
  });
  other.template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
  expect(other.acknowledged).toEqual([
    'AwsSolutions-SMG4',
    'AwsSolutions-IAM5[Resource::*]',
    'AwsSolutions-IAM5[Resource::*]',
  ]);
});

test('the role may do exactly this', () => {
  // The function's and the accounts function's: see accounts-function.unit.test.ts.
  template.resourceCountIs('AWS::IAM::Role', 2);
  template.resourceCountIs('AWS::IAM::Policy', 2);
  template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent(), Policies: Match.absent() });
  const policy = template.findResources('AWS::IAM::Policy')[idOf('AWS::IAM::Policy', 'Gateway')];
  expect(policy?.Properties.Roles).toEqual([{ Ref: ids.role }]);
  expect(policy?.Properties.PolicyDocument.Statement).toEqual([
    { Effect: 'Allow', Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: arnOf(ids.logs) },
    { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: arnOf(ids.keys) },
    { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], Resource: arnOf(ids.quota) },
    {
      Effect: 'Allow',
      Action: 'secretsmanager:GetSecretValue',
      Resource: [{ Ref: ids.networkSalt }, { Ref: ids.upstream }],
    },
  ]);
});

test.each([
  ['keys', ids.keys, keysSchema],
  ['quota', ids.quota, quotaSchema],
] as const)('the table of %s has the keys and attributes that the store uses', (_name, id, schema) => {
  const { Properties } = template.findResources('AWS::DynamoDB::GlobalTable')[id] ?? {};
  expect(Properties.KeySchema).toEqual([{ AttributeName: schema.partitionKey.name, KeyType: 'HASH' }]);
  expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: schema.ttlAttribute, Enabled: true });
  const indexes: { IndexName: string }[] = Properties.GlobalSecondaryIndexes ?? [];
  expect(indexes.map(({ IndexName }) => IndexName)).toEqual(schema.indexes.map(({ name }) => name));
});

test('another CDN gets a secret of its own', () => {
  const { template: withEdge } = synthesizeStack({ EDGE_HEADER: 'x-real-ip' });
  const [edge = ''] = Object.keys(withEdge.findResources('AWS::SecretsManager::Secret')).filter((id) =>
    id.startsWith('SecretsEdge'),
  );
  withEdge.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: { EDGE_HEADER: 'x-real-ip', EDGE_SECRET_ID: { Ref: edge } } },
  });
  withEdge.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Action: 'secretsmanager:GetSecretValue', Resource: Match.arrayWith([{ Ref: edge }]) }),
      ]),
    },
  });
  withEdge.hasOutput('EdgeSecret', { Value: { Ref: edge } });
});

const company = { APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com' };
test.each<[settings: object, output: string, value: unknown]>([
  [{ CONTEXT_WINDOW: 262_144 }, 'ContextWindow', '262144'],
  [{ ...company, OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true }, 'OidcIssuer', company.OIDC_ISSUER],
  [{ APP_URL: company.APP_URL }, 'AppUrl', company.APP_URL],
  [{ PRICES, CURRENCY: 'EUR' }, 'Currency', 'EUR'],
  [{ PRICES, MEMBER_BUDGET: 0.5, MEMBER_BUDGET_WINDOW: 'day' }, 'MemberBudget', '0.5/day'],
  [{ ACCESS: 'keys' }, 'Access', 'keys'],
  // In place of /cli, which a gateway for keys alone does not have.
  [{ ACCESS: 'keys' }, 'WalletUrl', { 'Fn::GetAtt': [idOf('AWS::Lambda::Url', 'Wallet'), 'FunctionUrl'] }],
])('with %j, programs of the operator find %s', (settings, output, value) => {
  const { Outputs: outputs } = synthesizeStack({ ...settings }).template.toJSON();
  expect(outputs[output]).toEqual({ Value: value });
  expect(template.toJSON().Outputs[output]).not.toEqual({ Value: value });
});

test('where terminals can’t sign in, no output says where', () => {
  const { APP_URL } = company;
  for (const settings of [
    { APP_URL, ACCESS: 'keys' },
    { APP_URL, WALLET_SIGN_IN: 'false' },
  ]) {
    expect(synthesizeStack(settings).template.toJSON().Outputs).not.toHaveProperty('AppUrl');
  }
});

test('the deployed commit is in an output, a tag and both functions’ environment; an unknown one is nowhere', () => {
  const commit = '0123456789abcdef0123456789abcdef01234567-dirty';
  const known = synthesizeStack({}, { commit });
  known.template.hasOutput('Commit', { Value: commit });
  expect(known.stack.tags.tagValues()).toMatchObject({ commit });
  const told = { Environment: { Variables: Match.objectLike({ DEPLOYED_COMMIT: commit }) } };
  known.template.resourcePropertiesCountIs('AWS::Lambda::Function', told, 2);
  expect(JSON.stringify(template.toJSON())).not.toMatch(/DEPLOYED_COMMIT|"Commit"/);
});

test('nothing has a physical name, which would prevent a second gateway, but for the dashboard with the stack’s', () => {
  const named = Object.values<{ Type: string; Properties?: object }>(template.toJSON().Resources)
    .filter(({ Type }) => !['AWS::Lambda::Permission', 'AWS::IAM::Policy'].includes(Type))
    .flatMap(({ Properties = {} }) => Object.keys(Properties).filter((key) => /(?<!Metric)Name$/.test(key)));
  expect(named).toEqual(['DashboardName']);
});

test('the template changes only on purpose', () => {
  const neutral = JSON.stringify(template.toJSON()).replace(/[0-9a-f]{64}\.zip/g, 'HASH.zip');
  expect(JSON.parse(neutral)).toMatchSnapshot();
});
