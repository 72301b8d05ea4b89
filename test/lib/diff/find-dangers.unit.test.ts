import { describe, expect, test } from '@jest/globals';
import { compareTemplates } from '../../../lib/diff/changes.ts';
import { findDangers } from '../../../lib/diff/judge.ts';
import type { Template } from '../../../lib/diff/template.ts';
import { renderComparison } from '../../../operator/diff/render-comparison.ts';

type Tree = Record<string, unknown>;

const table = {
  Type: 'AWS::DynamoDB::GlobalTable',
  DeletionPolicy: 'Retain',
  UpdateReplacePolicy: 'Retain',
  Metadata: { 'aws:cdk:path': 'InferenceGateway/Tables/Keys/Resource' },
  Properties: {
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    GlobalSecondaryIndexes: [{ IndexName: 'by-id', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }],
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    Replicas: [
      { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ],
  },
};

const statement = { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'], Resource: 'arn:of:table' };

const policy = {
  Type: 'AWS::IAM::Policy',
  Metadata: { 'aws:cdk:path': 'InferenceGateway/Gateway/Role/DefaultPolicy/Resource' },
  Properties: { PolicyName: 'p', Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement: [statement] } },
};

const url = { InvokeMode: 'RESPONSE_STREAM', TargetFunctionArn: 'arn:of:function' };

const base = {
  Resources: {
    Keys: table,
    Salt: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: { PasswordLength: 64 } } },
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {},
      Metadata: { 'aws:cdk:path': 'InferenceGateway/Gateway/Role/Resource' },
    },
    Policy: policy,
    Url: { Type: 'AWS::Lambda::Url', Properties: { ...url, AuthType: 'AWS_IAM' } },
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: { MemorySize: 512, Environment: { Variables: { EDGE_SECRET_ID: 'edge', GUEST_LIMIT: '3' } } },
    },
    Edge: {
      Type: 'AWS::CloudFront::Distribution',
      Properties: {
        DistributionConfig: { WebACLId: 'acl', DefaultCacheBehavior: { ViewerProtocolPolicy: 'https-only' } },
      },
    },
  },
  Stack: { name: 'InferenceGateway-prod', terminationProtection: true, tags: {} },
};

/** The template with another value at a path; undefined removes it. */
function changed(path: string, value: unknown): Template {
  const copy: Tree = structuredClone(base);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((tree, name) => tree[name] as Tree, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

function linesOf(after: Template, before: Template = base) {
  const comparison = compareTemplates(before, after);
  return renderComparison(comparison, findDangers(comparison));
}

const dangersOf = (after: Template) => linesOf(after).filter((line) => line.startsWith('!!'));

test('a harmless change is one line', () => {
  expect(linesOf(changed('Resources.Function.Properties.Environment.Variables.GUEST_LIMIT', '5'))).toEqual([
    '~ Function: Environment.Variables.GUEST_LIMIT "3" -> "5"',
  ]);
  expect(linesOf(changed('Resources.Function.Properties.MemorySize', 1024))).toEqual([
    '~ Function: MemorySize 512 -> 1024',
  ]);
  expect(linesOf(base)).toEqual([]);
});

test('a table that might be replaced is marked like one that will be', () => {
  const comparison = compareTemplates(base, changed('Resources.Keys.Properties.BillingMode', 'PROVISIONED'));
  const danger = { refused: false, where: 'Tables/Keys', what: 'may replace this table by an empty one' };
  expect(findDangers(comparison)).not.toContainEqual(danger);
  // No property of a table is of this kind today; CloudFormation has many.
  const resources = comparison.resources.map((resource) => ({ ...resource, replaced: 'maybe' as const }));
  expect(findDangers({ ...comparison, resources })).toContainEqual(danger);
});

describe('permissions', () => {
  const actions = 'Resources.Policy.Properties.PolicyDocument.Statement.0.Action';
  test('one more action', () => {
    expect(dangersOf(changed(actions, [...statement.Action, 'dynamodb:Scan']))).toEqual([
      '!! DANGER permissions: widens a permission: Gateway/Role may dynamodb:Scan on arn:of:table',
    ]);
  });

  test('one action fewer, which the function may need', () => {
    const lost = (action: string) =>
      `!! DANGER permissions: takes a permission away: Gateway/Role may ${action} on arn:of:table`;
    expect(dangersOf(changed(actions, 'dynamodb:GetItem'))).toEqual([lost('dynamodb:UpdateItem')]);
    expect(dangersOf(changed('Resources.Policy', undefined))).toEqual(statement.Action.map(lost));
  });

  test('one line if a permission only widens', () => {
    expect(dangersOf(changed(actions, 'dynamodb:*'))).toEqual([
      '!! DANGER permissions: widens a permission: Gateway/Role may dynamodb:* on arn:of:table',
    ]);
  });

  test('none if the same is said differently', () => {
    const [first, second] = statement.Action.map((Action) => ({ ...statement, Action, Sid: 'x' }));
    expect(dangersOf(changed('Resources.Policy.Properties.PolicyDocument.Statement', [second, first]))).toEqual([]);
  });

  test('another resource, for each action', () => {
    const widened = changed('Resources.Policy.Properties.PolicyDocument.Statement.0.Resource', '*');
    expect(dangersOf(widened)).toEqual([
      expect.stringContaining('GetItem on *'),
      expect.stringContaining('UpdateItem on *'),
    ]);
  });

  test('a denial that is removed', () => {
    const deny = { ...statement, Effect: 'Deny', Action: 'dynamodb:DeleteItem' };
    const before = changed('Resources.Policy.Properties.PolicyDocument.Statement', [statement, deny]);
    expect(linesOf(base, before)[0]).toContain(
      'widens a permission: no longer denied: Gateway/Role may dynamodb:DeleteItem',
    );
  });

  test('a function that anyone may call', () => {
    const permission = {
      Type: 'AWS::Lambda::Permission',
      Properties: { Action: 'lambda:InvokeFunctionUrl', Principal: '*', FunctionName: 'f' },
    };
    expect(dangersOf(changed('Resources.Permission', permission))).toEqual([
      expect.stringMatching(/may lambda:InvokeFunctionUrl/),
    ]);
  });
});

test('a URL that anyone may call opens the network', () => {
  expect(dangersOf(changed('Resources.Url.Properties.AuthType', 'NONE'))).toContainEqual(
    expect.stringContaining('opens the network'),
  );
});

test('a long value is shortened to the part that differs', () => {
  const long = (word: string) => `${'a'.repeat(500)} ${word} ${'b'.repeat(500)}`;
  const path = 'Resources.Function.Properties.Description';
  const [line = ''] = linesOf(changed(path, long('new')), changed(path, long('old')));
  expect(line).toMatch(/…a+ old b+… -> …a+ new b+…$/);
  expect(line.length).toBeLessThan(200);
});
