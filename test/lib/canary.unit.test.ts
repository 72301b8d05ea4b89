import { describe, expect, test } from '@jest/globals';
import { canaryMetrics } from '../../lambda/report/metrics.ts';
import { readAlarms, statesOf } from '../support/alarms.ts';
import { findId, synthesizeStack } from '../support/stack.ts';

const { template, stack, acknowledged } = synthesizeStack({ canary: true, logRetentionDays: 7 });
const edge = { edge: true, edgeDomainName: 'api.example.com' };
const certificate = { edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa' };
const idOf = (type: string, prefix = 'Canary', among = template) => findId(among, type, prefix);

test('is off by default, and then has no resources', () => {
  const { template: plain } = synthesizeStack();
  expect(JSON.stringify(plain.toJSON())).not.toMatch(/canary|AWS::Events|rate\(/i);
  expect(plain.toJSON()).toEqual(synthesizeStack({ canary: false }).template.toJSON());
});

test('adds to the stack, and changes nothing that was there except the dashboard', () => {
  const before = synthesizeStack({ logRetentionDays: 7 }).template.toJSON().Resources;
  const after = template.toJSON().Resources;
  const changed = Object.keys(before).filter((id) => JSON.stringify(before[id]) !== JSON.stringify(after[id]));
  expect(changed).toEqual([expect.stringMatching(/^Dashboard/)]);
  expect(acknowledged).toEqual(['AwsSolutions-SMG4']);
});

test('runs every five minutes', () => {
  const Arn = { 'Fn::GetAtt': [idOf('AWS::Lambda::Function'), 'Arn'] };
  template.resourceCountIs('AWS::Events::Rule', 1);
  template.hasResourceProperties('AWS::Events::Rule', {
    ...{ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' },
    Targets: [{ Arn, Id: 'Target0', RetryPolicy: { MaximumRetryAttempts: 0 } }],
  });
  template.hasResourceProperties('AWS::Lambda::Permission', {
    ...{ Action: 'lambda:InvokeFunction', FunctionName: Arn, Principal: 'events.amazonaws.com' },
    SourceArn: { 'Fn::GetAtt': [idOf('AWS::Events::Rule'), 'Arn'] },
  });
});

describe('its function', () => {
  const secret = idOf('AWS::SecretsManager::Secret', 'SecretsCanary');

  test('knows the address that clients use, and its own key', () => {
    const [url = ''] = Object.keys(template.findResources('AWS::Lambda::Url')).filter((id) => id.startsWith('Gateway'));
    const { Properties } = template.findResources('AWS::Lambda::Function')[idOf('AWS::Lambda::Function')] ?? {};
    expect(Properties.Environment.Variables).toEqual({
      CANARY_URL: { 'Fn::GetAtt': [url, 'FunctionUrl'] },
      CANARY_SECRET_ID: { Ref: secret },
      SERVICE_NAME: 'svc',
      METRICS_NAMESPACE: stack.stackName,
    });
    expect(Properties).toMatchObject({ Timeout: 60, Runtime: 'nodejs24.x', Architectures: ['arm64'] });
  });

  test('goes through the edge if there is one', () => {
    const { template: atEdge } = synthesizeStack({ canary: true, ...edge, ...certificate });
    const { Properties } =
      atEdge.findResources('AWS::Lambda::Function')[idOf('AWS::Lambda::Function', 'Canary', atEdge)] ?? {};
    expect(Properties.Environment.Variables.CANARY_URL).toBe('https://api.example.com/');
  });

  test('may write its log and read its key, and nothing else', () => {
    const logs = idOf('AWS::Logs::LogGroup');
    const { Properties } = template.findResources('AWS::IAM::Policy')[idOf('AWS::IAM::Policy')] ?? {};
    expect(Properties.Roles).toEqual([{ Ref: idOf('AWS::IAM::Role') }]);
    expect(Properties.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [logs, 'Arn'] },
      },
      { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: { Ref: secret } },
    ]);
    expect(template.findResources('AWS::Logs::LogGroup')[logs]?.Properties).toMatchObject({ RetentionInDays: 7 });
  });

  test('its key is empty until the operator fills it in, and outlives the stack', () => {
    expect(template.findResources('AWS::SecretsManager::Secret')[secret]).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: { SecretString: '{"key":""}' },
    });
    template.hasOutput('CanarySecret', { Value: { Ref: secret } });
  });
});

test('its alarm rings after a quarter of an hour in which no run passed, or none was heard of', () => {
  const [alarm, ...others] = readAlarms(template.toJSON()).filter(({ name }) => name === 'CanaryFailing');
  if (alarm === undefined || others.length > 0) throw new Error('it has not one alarm');
  const label = `${stack.stackName} ${canaryMetrics.failures.name}`;
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
});
