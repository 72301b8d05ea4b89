import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { serverSettings } from '../../lambda/settings/table.ts';
import { findId, synthesizeStack } from '../support/stack.ts';

const byDefault = synthesizeStack().template.toJSON();
const { template, acknowledged } = synthesizeStack(
  { engine: 'web' },
  { commit: '0123456789abcdef0123456789abcdef01234567', isValidated: true },
);
const idOf = (type: string, prefix: string) => findId(template, type, prefix);
const ids = {
  keys: idOf('AWS::DynamoDB::GlobalTable', 'TablesKeys'),
  quota: idOf('AWS::DynamoDB::GlobalTable', 'TablesQuota'),
  upstream: idOf('AWS::SecretsManager::Secret', 'SecretsUpstream'),
  networkSalt: idOf('AWS::SecretsManager::Secret', 'SecretsNetworkSalt'),
  logs: idOf('AWS::Logs::LogGroup', 'WebLogs'),
  localLogs: idOf('AWS::Logs::LogGroup', 'WebLocalLogs'),
  role: idOf('AWS::IAM::Role', 'WebRole'),
  policy: idOf('AWS::IAM::Policy', 'WebRole'),
};
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

test("follows AWS's rules for solutions, except those that are acknowledged with a reason", () => {
  const grants = acknowledged.filter((rule) => rule.startsWith('AwsSolutions-IAM5'));
  expect(acknowledged.filter((rule) => !grants.includes(rule))).toEqual(['AwsSolutions-SMG4', 'AwsSolutions-S1']);
  expect(grants).toHaveLength(4);
});

test('runs the server on Node 24, 64 requests at once, for as long as Lambda allows', () => {
  template.hasResourceProperties('AWS::Lambda::WebFunctionRevision', {
    BuildConfig: { RuntimeConfig: { Runtime: 'nodejs24.x' } },
    ServiceConfig: {
      ExecutionRoleArn: arnOf(ids.role),
      MaxConcurrencyPerEnvironment: 64,
      TimeoutSeconds: 900,
      TelemetryConfig: { LoggingConfig: { LogGroup: { Ref: ids.logs } } },
    },
  });
});

test('gets the function’s settings by the same names, and those of a server', () => {
  const gateway = Object.entries<{ Properties: { Environment: { Variables: object } } }>(byDefault.Resources);
  const [, asFunction] =
    gateway.find(([id]) => id.startsWith('GatewayFunction') && /Function[0-9A-F]{8}$/.test(id)) ?? [];
  const [revision] = Object.values(template.findResources('AWS::Lambda::WebFunctionRevision'));
  expect(revision?.Properties.ServiceConfig.EnvironmentVariables).toEqual({
    ...asFunction?.Properties.Environment.Variables,
    DEPLOYED_COMMIT: '0123456789abcdef0123456789abcdef01234567',
    CLIENT_ADDRESS: 'x-forwarded-for',
    BODY_BUDGET: serverSettings.BODY_BUDGET.fallback,
    SHUTDOWN_GRACE: serverSettings.SHUTDOWN_GRACE.fallback,
  });
});

test('the role may do exactly this, and may only read keys', () => {
  const policy = template.findResources('AWS::IAM::Policy')[ids.policy];
  expect(policy?.Properties.Roles).toEqual([{ Ref: ids.role }]);
  expect(policy?.Properties.PolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Resource: [arnOf(ids.localLogs), arnOf(ids.logs)],
    },
    { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: arnOf(ids.keys) },
    { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], Resource: arnOf(ids.quota) },
    {
      Effect: 'Allow',
      Action: 'secretsmanager:GetSecretValue',
      Resource: [{ Ref: ids.networkSalt }, { Ref: ids.upstream }],
    },
  ]);
  template.allResourcesProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent(), Policies: Match.absent() });
});

test('both of its log groups have a retention, and are created before it runs', () => {
  for (const id of [ids.logs, ids.localLogs]) {
    expect(template.findResources('AWS::Logs::LogGroup')[id]?.Properties.RetentionInDays).toBe(30);
  }
  template.hasResourceProperties('AWS::Logs::LogGroup', {
    LogGroupName: { 'Fn::Join': ['', [{ Ref: ids.logs }, '.local']] },
  });
  template.hasResource('AWS::Lambda::WebFunctionRevision', { DependsOn: Match.arrayWith([ids.localLogs, ids.policy]) });
  for (const { Properties } of Object.values(template.findResources('AWS::Logs::LogGroup'))) {
    expect(Properties.RetentionInDays).toBe(30);
  }
});

describe('the endpoint', () => {
  test('is open to everyone, in its own region, and is the address in the outputs', () => {
    template.hasResourceProperties('AWS::Lambda::WebFunctionEndpoint', {
      AuthType: 'ApplicationManaged',
      EndpointType: 'HomeRegion',
      ScalingConfig: Match.absent(),
      ThrottleConfig: Match.absent(),
    });
    const endpoint = idOf('AWS::Lambda::WebFunctionEndpoint', 'Web');
    const url = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [endpoint, 'DomainName'] }, '/']] };
    template.hasOutput('GatewayUrl', { Value: url });
    template.hasResourceProperties('AWS::Lambda::Function', { Environment: { Variables: { GATEWAY_URL: url } } });
    template.hasOutput('LogGroup', { Value: { Ref: ids.logs } });
  });

  test('has the limits in the settings', () => {
    const { template: limited } = synthesizeStack({
      ...{ engine: 'web', maxConcurrency: 128, maxEnvironments: 20, rateLimit: 0, BODY_BUDGET: 512 },
    });
    limited.hasResourceProperties('AWS::Lambda::WebFunctionEndpoint', {
      ScalingConfig: { MaxEnvironments: 20 },
      ThrottleConfig: { RateLimit: 0 },
    });
    limited.hasResourceProperties('AWS::Lambda::WebFunctionRevision', {
      ServiceConfig: { MaxConcurrencyPerEnvironment: 128, EnvironmentVariables: { BODY_BUDGET: '512' } },
    });
  });
});

test('no two stacks of an account use the same name, even in different regions', () => {
  template.hasResourceProperties('AWS::Lambda::WebFunction', {
    FunctionName: { 'Fn::Join': ['', ['InferenceGateway-dev-', { Ref: 'AWS::Region' }]] },
  });
});

test('the page /cli keeps its own function and address', () => {
  const walletOf = (resources: object) =>
    Object.entries(resources).filter(([id]) => /^Wallet.*(Url|Logs|Role|Policy|Secret)/.test(id));
  expect(walletOf(template.toJSON().Resources)).toEqual(walletOf(byDefault.Resources));
  expect(template.toJSON().Outputs.WalletUrl).toEqual(byDefault.Outputs.WalletUrl);
});

describe('alarms and dashboard', () => {
  const alarms = template.findResources('AWS::CloudWatch::Alarm');
  const text = JSON.stringify(template.toJSON());

  test('the endpoint’s failures ring, by the only metric name that is documented', () => {
    const [, failing] = Object.entries(alarms).find(([id]) => id.startsWith('AlarmsWebFailing')) ?? [];
    expect(JSON.stringify(failing?.Properties.Metrics)).toMatch(
      /SELECT SUM\(HTTPResponseStatusClass5XX\) FROM \\+"AWS\/Lambda\/Web\\+" WHERE FunctionName = 'InferenceGateway-dev-/,
    );
    const named = new Set([...text.matchAll(/AWS\/Lambda\/Web/g)]);
    const known = [...text.matchAll(/SELECT SUM\(HTTPResponseStatusClass5XX\) FROM \\+"AWS\/Lambda\/Web/g)];
    expect(named.size).toBe(known.length);
  });

  test('the only function watched is that of /cli', () => {
    const watched = Object.keys(alarms).map((id) => id.replace(/^Alarms|[0-9A-F]{8}$/g, ''));
    expect(watched).toEqual(expect.arrayContaining(['WebFailing', 'WalletErrors', 'GatewayErrors', 'UpstreamFailing']));
    for (const name of ['FunctionErrors', 'FunctionThrottled', 'NearingConcurrency'])
      expect(watched).not.toContain(name);
  });

  test('the dashboard reads its log', () => {
    const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
    const text = JSON.stringify(dashboard);
    expect(text).toContain(`{"Ref":"${ids.logs}"}`);
    // Lambda adds the billed duration to the logs of functions only.
    const [compute = ''] = /Dollars an hour: compute.+?@billedDuration/.exec(text) ?? [];
    expect(compute).toContain('{"Ref":"WalletLogs');
    expect(compute).not.toContain(ids.logs);
  });
});

test('behind the edge it is the origin, and /cli goes where it went before', () => {
  const origins = (engine: string) => {
    const [edge] = Object.values(
      synthesizeStack({ engine, edge: true }).template.findResources('AWS::CloudFront::Distribution'),
    );
    return edge?.Properties.DistributionConfig.Origins;
  };
  const [main, ...others] = origins('web');
  const [wasMain, ...wereOthers] = origins('function-url');
  expect(others).toEqual(wereOthers);
  const { DomainName, Id: _, ...rest } = main;
  const { DomainName: __, Id: ___, ...same } = wasMain;
  expect(rest).toEqual(same);
  expect(DomainName).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^Web.*Endpoint/), 'DomainName'] });
});
