import { describe, expect, test } from '@jest/globals';
import { findId, synthesizeStack } from '../support/stack.ts';

const edgeDomain = {
  edge: true,
  edgeDomainName: 'api.example.com',
  edgeCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-aaaa-bbbb-cccc-1234567890ab',
};

type Properties = Readonly<Record<string, unknown>>;

/** The wallet function in a stack with these settings. */
function synthesizeWallet(settings: Properties = {}) {
  const { template } = synthesizeStack(settings);
  const resources: Record<string, { Type: string; Properties: Properties }> = template.toJSON().Resources;
  const find = (type: string, prefix: string): [string, Properties] => {
    const id = findId(template, type, prefix);
    return [id, resources[id]?.Properties ?? {}];
  };
  const [id, properties] = find('AWS::Lambda::Function', 'Wallet');
  const { Variables: variables } = properties.Environment as { Variables: Properties };
  return { resources, find, id, properties, variables };
}

const wallet = synthesizeWallet();
const [keys] = wallet.find('AWS::DynamoDB::GlobalTable', 'TablesKeys');
const [quota] = wallet.find('AWS::DynamoDB::GlobalTable', 'TablesQuota');
const [salt] = wallet.find('AWS::SecretsManager::Secret', 'SecretsNetworkSalt');
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

test('the role may do exactly this', () => {
  const [logs] = wallet.find('AWS::Logs::LogGroup', 'Wallet');
  const [role] = wallet.find('AWS::IAM::Role', 'Wallet');
  const [, policy] = wallet.find('AWS::IAM::Policy', 'Wallet');
  expect(wallet.properties.Role).toEqual(arnOf(role));
  expect(policy.Roles).toEqual([{ Ref: role }]);
  expect((policy.PolicyDocument as { Statement: unknown }).Statement).toEqual([
    { Effect: 'Allow', Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: arnOf(logs) },
    { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], Resource: arnOf(keys) },
    { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], Resource: arnOf(quota) },
    { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: { Ref: salt } },
  ]);
});

test('where only the operator issues keys, it may not even read the tables', () => {
  const [, policy] = synthesizeWallet({ ACCESS: 'keys' }).find('AWS::IAM::Policy', 'Wallet');
  const { Statement } = policy.PolicyDocument as { Statement: { Action: unknown }[] };
  expect(Statement.map(({ Action }) => Action)).toEqual([
    ['logs:CreateLogStream', 'logs:PutLogEvents'],
    'secretsmanager:GetSecretValue',
  ]);
});

test('it has its own concurrency limit if the gateway has one, and otherwise shares the account’s executions', () => {
  expect(wallet.properties).not.toHaveProperty('ReservedConcurrentExecutions');
  expect(synthesizeWallet({ reservedConcurrency: 50 }).properties).toMatchObject({ ReservedConcurrentExecutions: 10 });
});

describe('its environment has', () => {
  test('what its pages say of the gateway', () => {
    const given = { GUEST_LIMIT: 0, CONTEXT_WINDOW: 262_144 };
    expect(synthesizeWallet(given).variables).toMatchObject({ GUEST_LIMIT: '0', CONTEXT_WINDOW: '262144' });
  });

  test('the operator’s addresses rather than the stack’s', () => {
    const given = { APP_URL: 'https://app.example', GATEWAY_URL: 'https://api.example' };
    expect(synthesizeWallet(given).variables).toMatchObject(given);
  });

  test('the domain of the edge, which leads to it and to the gateway', () => {
    const { id, variables, find } = synthesizeWallet(edgeDomain);
    const [secret] = find('AWS::SecretsManager::Secret', 'SecretsEdge');
    expect(variables).toMatchObject({
      APP_URL: 'https://api.example.com',
      EDGE_HEADER: 'cloudfront-viewer-address',
      EDGE_SECRET_ID: { Ref: secret },
    });
    expect(variables).not.toHaveProperty('GATEWAY_URL');
    const [, policy] = find('AWS::IAM::Policy', 'Wallet');
    expect(JSON.stringify(policy)).toContain(secret);

    const [, distribution] = find('AWS::CloudFront::Distribution', 'Edge');
    const { CacheBehaviors: behaviors, Origins: origins } = distribution.DistributionConfig as {
      CacheBehaviors: { PathPattern: string; TargetOriginId: string }[];
      Origins: { Id: string }[];
    };
    const paths = ['/', '/cli', '/cli/*', '/docs', '/docs/*', '/oauth/*', '/.well-known/*'];
    expect(behaviors.map(({ PathPattern }) => PathPattern)).toEqual(paths);
    for (const { TargetOriginId } of behaviors) {
      const origin = origins.find(({ Id }) => Id === TargetOriginId);
      expect(JSON.stringify(origin)).toContain(id.replace(/[0-9A-F]{8}$/, ''));
    }
  });
});
