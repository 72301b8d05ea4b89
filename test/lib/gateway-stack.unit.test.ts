import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { keysSchema, quotaSchema } from '../../lambda/tables/schema.ts';
import { PRICES } from '../support/prices.ts';
import { findId, synthesizeStack } from '../support/stack.ts';
import { synthesizeWhole } from '../support/whole-template.ts';

const { template, stack, acknowledged } = synthesizeStack({}, { isValidated: true });
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

describe('the function', () => {
  test('runs on Node 24 and arm64, for as long as Lambda allows', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      Timeout: 900,
      MemorySize: 512,
      Role: arnOf(ids.role),
    });
  });

  test('gets the settings, and the tables and secrets that the stack creates', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          UPSTREAM_BASE_URL: 'https://upstream.example/v1',
          GUEST_LIMIT: '3',
          KEYS_TABLE: { Ref: ids.keys },
          QUOTA_TABLE: { Ref: ids.quota },
          UPSTREAM_SECRET_ID: { Ref: ids.upstream },
          NETWORK_SALT_SECRET_ID: { Ref: ids.networkSalt },
          METRICS_NAMESPACE: 'InferenceGateway-dev',
        },
      },
    });
  });

  test('logs to its own group, with a retention', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      LoggingConfig: { LogFormat: 'Text', LogGroup: { Ref: ids.logs } },
    });
    template.hasResource('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 30 }, DeletionPolicy: 'Delete' });
  });

  test('shares the account’s executions and is not traced, unless a setting says otherwise', () => {
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

  test('answers anyone at a URL that streams and leaves CORS to the function', () => {
    template.hasResourceProperties('AWS::Lambda::Url', {
      AuthType: 'NONE',
      InvokeMode: 'RESPONSE_STREAM',
      Cors: Match.absent(),
    });
    const permission = { Principal: '*', FunctionName: Match.anyValue() };
    template.resourcePropertiesCountIs(
      'AWS::Lambda::Permission',
      { ...permission, Action: 'lambda:InvokeFunctionUrl', FunctionUrlAuthType: 'NONE' },
      2,
    );
    template.resourcePropertiesCountIs(
      'AWS::Lambda::Permission',
      { ...permission, Action: 'lambda:InvokeFunction', InvokedViaFunctionUrl: true },
      2,
    );
  });
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

describe.each([
  ['keys', ids.keys, keysSchema],
  ['quota', ids.quota, quotaSchema],
] as const)('the table of %s', (_name, id, schema) => {
  const {
    Properties: properties,
    DeletionPolicy,
    UpdateReplacePolicy,
  } = template.findResources('AWS::DynamoDB::GlobalTable')[id] ?? {};

  test('has the keys and attributes that the store uses', () => {
    expect(properties.KeySchema).toEqual([{ AttributeName: schema.partitionKey.name, KeyType: 'HASH' }]);
    expect(properties.TimeToLiveSpecification).toEqual({ AttributeName: schema.ttlAttribute, Enabled: true });
    const indexes: { IndexName: string }[] = properties.GlobalSecondaryIndexes ?? [];
    expect(indexes.map(({ IndexName }) => IndexName)).toEqual(schema.indexes.map(({ name }) => name));
    expect(properties.BillingMode).toBe('PAY_PER_REQUEST');
  });

  test('outlives the stack and every mistake', () => {
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
    expect(properties.Replicas).toEqual([
      expect.objectContaining({
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    ]);
  });
});

test('the indexes of keys have the keys of the schema', () => {
  template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
    GlobalSecondaryIndexes: [
      { IndexName: 'by-id', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] },
      {
        IndexName: 'by-member',
        KeySchema: [
          { AttributeName: 'member', KeyType: 'HASH' },
          { AttributeName: 'createdAt', KeyType: 'RANGE' },
        ],
      },
    ],
    AttributeDefinitions: Match.arrayWith([{ AttributeName: 'createdAt', AttributeType: 'N' }]),
  });
});

// CloudFormation replaces a secret's value when these lines change: all guest counters and links would be lost with the
// salt, and the operator's keys with the other. They must stay as they were first deployed.
test('the secrets keep their values', () => {
  const secrets = template.findResources('AWS::SecretsManager::Secret');
  expect(secrets).toEqual({
    [ids.upstream]: expect.objectContaining({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { Description: expect.any(String), SecretString: '{"UPSTREAM_API_KEYS":""}' },
    }),
    [ids.networkSalt]: expect.objectContaining({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        Description: expect.any(String),
        GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
      },
    }),
  });
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

test('the outputs are those that the operator and the CLI look for', () => {
  expect(template.toJSON().Outputs).toEqual({
    GatewayUrl: { Value: { 'Fn::GetAtt': [idOf('AWS::Lambda::Url', 'Gateway'), 'FunctionUrl'] } },
    WalletUrl: {
      Value: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [idOf('AWS::Lambda::Url', 'Wallet'), 'FunctionUrl'] }, 'cli']] },
    },
    KeysTable: { Value: { Ref: ids.keys } },
    QuotaTable: { Value: { Ref: ids.quota } },
    UpstreamSecret: { Value: { Ref: ids.upstream } },
    NetworkSaltSecret: { Value: { Ref: ids.networkSalt } },
    ServiceName: { Value: 'svc' },
    MemberLimit: { Value: '50' },
    Access: { Value: 'open' },
    LogGroup: { Value: { Ref: idOf('AWS::Logs::LogGroup', 'Gateway') } },
    AlarmTopic: { Value: { Ref: idOf('AWS::SNS::Topic', '') } },
    DashboardUrl: {
      Value: {
        'Fn::Join': [
          '',
          [
            'https://',
            { Ref: 'AWS::Region' },
            '.console.aws.amazon.com/cloudwatch/home?region=',
            { Ref: 'AWS::Region' },
            '#dashboards/dashboard/InferenceGateway-dev-',
            { Ref: 'AWS::Region' },
          ],
        ],
      },
    },
  });
});

test('the context window is an output where it is set, for the blocks of `keys setup`', () => {
  synthesizeStack({ CONTEXT_WINDOW: 262_144 }).template.hasOutput('ContextWindow', { Value: '262144' });
});

test('the issuer of company accounts is an output where it is set, for `keys --subject`', () => {
  const company = { APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com' };
  const { template: withAccounts } = synthesizeStack({ ...company, OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true });
  withAccounts.hasOutput('OidcIssuer', { Value: 'https://login.example.com' });
  expect(synthesizeStack().template.toJSON().Outputs).not.toHaveProperty('OidcIssuer');
});

test('where terminals can sign in is an output if its address is known, for `keys setup`', () => {
  const APP_URL = 'https://api.example.com';
  synthesizeStack({ APP_URL }).template.hasOutput('AppUrl', { Value: APP_URL });
  const company = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true };
  const { template: onlyCompany } = synthesizeStack({ APP_URL, ACCESS: 'keys', ...company });
  onlyCompany.hasOutput('AppUrl', { Value: APP_URL });
  expect(JSON.stringify(onlyCompany.toJSON().Outputs.WalletUrl)).toContain('cli');
  for (const without of [{}, { APP_URL, ACCESS: 'keys' }, { APP_URL, WALLET_SIGN_IN: 'false' }]) {
    expect(synthesizeStack(without).template.toJSON().Outputs).not.toHaveProperty('AppUrl');
  }
});

test('the currency and the members’ budget are outputs where there are prices, for `keys`', () => {
  const { template: priced } = synthesizeStack({
    PRICES,
    CURRENCY: 'EUR',
    MEMBER_BUDGET: 0.5,
    MEMBER_BUDGET_WINDOW: 'day',
  });
  priced.hasOutput('Currency', { Value: 'EUR' });
  priced.hasOutput('MemberBudget', { Value: '0.5/day' });
  expect(synthesizeStack({ PRICES }).template.toJSON().Outputs).not.toHaveProperty('MemberBudget');
});

test('a gateway closed by ACCESS says so in its outputs, and names / in place of /cli', () => {
  const { Access, WalletUrl } = synthesizeStack({ ACCESS: 'keys' }).template.toJSON().Outputs;
  const url = { 'Fn::GetAtt': [idOf('AWS::Lambda::Url', 'Wallet'), 'FunctionUrl'] };
  expect([Access, WalletUrl]).toEqual([{ Value: 'keys' }, { Value: url }]);
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
  const unique = { 'Fn::Join': ['', ['InferenceGateway-dev-', { Ref: 'AWS::Region' }]] };
  template.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: unique });
});

test('the template changes only on purpose', () => {
  const neutral = JSON.stringify(template.toJSON()).replace(/[0-9a-f]{64}\.zip/g, 'HASH.zip');
  expect(JSON.parse(neutral)).toMatchSnapshot();
});
