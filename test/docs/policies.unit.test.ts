import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { allows, readPolicy } from '../support/iam-policy.ts';
import { type AnyTree, synthesizeStack } from '../support/stack.ts';

const policies = ['operator', 'upstream-key', 'recovery', 'deploy', 'diff'] as const;
const pages = [
  'README.md',
  ...['operations', 'recovery', 'deploy', 'hosting', 'logs', 'sign-in'].map((page) => `docs/${page}.md`),
];

/** Actions that AWS can't restrict to a resource. */
const withoutResource = [
  'cloudwatch:GetMetricData',
  'dynamodb:ListTables',
  'dynamodb:ListBackups',
  'lambda:GetAccountSettings',
  'logs:GetQueryResults',
  'logs:StopQuery',
  'secretsmanager:GetRandomPassword',
  'secretsmanager:ListSecrets',
];

test('every policy names single actions, each once, and all resources only if AWS allows nothing narrower', () => {
  for (const name of policies) {
    const { statements } = readPolicy(name);
    expect(statements).not.toEqual([]);
    for (const { resources, actions } of statements) {
      for (const action of actions) expect(action).toMatch(/^[a-z]+:[A-Z][A-Za-z]+$/);
      if (resources.includes('*')) expect(withoutResource).toEqual(expect.arrayContaining([...actions]));
    }
  }
});

test('no policy lets anybody change permissions, and one alone read or write the upstream’s keys', () => {
  for (const name of policies) {
    expect(readFileSync(`docs/policies/${name}.json`, 'utf8')).not.toMatch(/"iam:|"kms:|"NotAction|"NotResource/);
    for (const { actions, resources } of readPolicy(name).statements) {
      if (!actions.includes('secretsmanager:GetSecretValue')) continue;
      expect(resources).toEqual([name === 'upstream-key' ? 'UPSTREAM_SECRET' : 'NETWORK_SALT_SECRET']);
    }
    const mayWrite = allows(readPolicy(name), 'secretsmanager:PutSecretValue', 'UPSTREAM_SECRET');
    expect([name, mayWrite]).toEqual([name, name === 'upstream-key']);
  }
});

/** The actions behind a command of the AWS CLI. */
const special: Readonly<Record<string, readonly string[]>> = {
  'logs tail': ['logs:FilterLogEvents'],
  'dynamodb wait': ['dynamodb:DescribeTable'],
  'dynamodb scan': ['dynamodb:Scan'],
  // A restore writes the items itself: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/backuprestore_IAM.html
  'dynamodb restore-table-to-point-in-time': [
    'dynamodb:RestoreTableToPointInTime',
    ...['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'Query', 'Scan'].map(
      (one) => `dynamodb:${one}`,
    ),
  ],
};

/** Run once by an administrator, to set up the account. */
const ofAdministrators = ['sts get-caller-identity', 'wafv2 create-web-acl'];

/** The actions behind all commands of a text. */
function actionsIn(text: string): string[] {
  const commands = [...text.matchAll(/\baws ([a-z0-9]+ [a-z][a-z-]+)/g)].map(([, command = '']) => command);
  const ofAws = commands.filter((command) => !ofAdministrators.includes(command)).flatMap(actionsOf);
  return [...new Set([...ofAws, ...(/\bnpx cdk (import|deploy)/.test(text) ? ['sts:AssumeRole'] : [])])];
}

function actionsOf(command: string): readonly string[] {
  const [service = '', operation = ''] = command.split(' ');
  const pascal = operation.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return special[command] ?? [`${service}:${pascal}`];
}

const actionsAllowed = (name: (typeof policies)[number]) =>
  readPolicy(name).statements.flatMap(({ actions }) => actions);

/** A section of a page, with its heading; and the page without it. */
function cut(page: string, heading: string): readonly [section: string, rest: string] {
  const text = readFileSync(page, 'utf8');
  const section = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`)) ?? '';
  return [section, text.replace(section, '')];
}

const [restoring, operating] = cut('docs/operations.md', 'Restoring tables');
const [rollingBack] = cut('docs/operations.md', 'Rolling back');

test('each policy alone allows every command of its pages, and the two of operators those of all pages', () => {
  const allPages = pages.map((page) => readFileSync(page, 'utf8')).join('\n');
  const told = [
    { text: operating.replace(rollingBack, ''), least: 10, allowed: actionsAllowed('operator') },
    { text: restoring, least: 8, allowed: actionsAllowed('recovery') },
    { text: readFileSync('docs/recovery.md', 'utf8'), least: 10, allowed: actionsAllowed('recovery') },
    { text: rollingBack, least: 1, allowed: actionsAllowed('deploy') },
    { text: allPages, least: 20, allowed: [...actionsAllowed('operator'), ...actionsAllowed('recovery')] },
  ];
  for (const { text, least, allowed } of told) {
    const actions = actionsIn(text);
    expect(actions.length).toBeGreaterThanOrEqual(least);
    expect(actions.filter((action) => !allowed.includes(action))).toEqual([]);
  }
});

test('operators may open the dashboard, and restore or warm up only what is the gateway’s own', () => {
  const operator = readPolicy('operator');
  const table = 'arn:aws:dynamodb:REGION:ACCOUNT:table/';
  const secret = 'arn:aws:secretsmanager:REGION:ACCOUNT:secret:';
  const may = (action: string, resource: string) => allows(operator, action, resource);
  // It has the stack's name and the region's.
  expect(may('cloudwatch:GetDashboard', 'arn:aws:cloudwatch::ACCOUNT:dashboard/STACK-REGION')).toBe(true);
  expect(may('dynamodb:UpdateTable', `${table}QUOTA_TABLE`)).toBe(true);
  expect(may('dynamodb:UpdateTable', `${table}KEYS_TABLE`)).toBe(false);
  for (const own of [
    'UPSTREAM_SECRET',
    'NETWORK_SALT_SECRET',
    `${secret}SecretsCanaryA1`,
    `${secret}SecretsEdgeA1`,
    `${secret}SecretsOidcClientA1`,
  ])
    expect([own, may('secretsmanager:RestoreSecret', own)]).toEqual([own, true]);
  expect(may('secretsmanager:RestoreSecret', `${secret}SomebodyElses`)).toBe(false);
});

test('whoever imports a stack may take the roles of the bootstrap that a deployment takes', () => {
  const ofRoles = (name: 'recovery' | 'deploy') =>
    readPolicy(name).statements.find(({ actions }) => actions.includes('sts:AssumeRole'));
  expect(ofRoles('recovery')).toEqual(ofRoles('deploy'));
});

test('the secrets that runbooks write may be written, and no others of the stack', () => {
  const resources: Readonly<Record<string, string>> = {
    CanarySecret: 'arn:aws:secretsmanager:REGION:ACCOUNT:secret:SecretsCanaryA1-b2',
    EdgeSecret: 'arn:aws:secretsmanager:REGION:ACCOUNT:secret:SecretsEdgeA1-b2',
    NetworkSaltSecret: 'arn:aws:secretsmanager:REGION:ACCOUNT:secret:SecretsNetworkSaltA1-b2',
    OidcClientSecret: 'arn:aws:secretsmanager:REGION:ACCOUNT:secret:SecretsOidcClientA1-b2',
  };
  const written = pages.flatMap((page) =>
    readFileSync(page, 'utf8')
      .split('```')
      .filter((block) => block.includes('put-secret-value'))
      .flatMap((block) => [...block.matchAll(/output (\w+Secret)/g)].map(([, output = '']) => output)),
  );
  expect([...new Set(written)].sort()).toEqual(Object.keys(resources).sort());
  const [operator, recovery] = [readPolicy('operator'), readPolicy('recovery')];
  const mayWrite = (resource: string) =>
    [operator, recovery].some((policy) => allows(policy, 'secretsmanager:PutSecretValue', resource));
  for (const output of written) expect([output, mayWrite(resources[output] ?? '')]).toEqual([output, true]);
  expect(allows(operator, 'secretsmanager:PutSecretValue', 'NETWORK_SALT_SECRET')).toBe(false);
});

test('operators may look whether the canary’s schedule is disabled', () => {
  const rule = 'arn:aws:events:REGION:ACCOUNT:rule/STACK-CanarySchedule1-A2';
  expect(allows(readPolicy('operator'), 'events:DescribeRule', rule)).toBe(true);
  expect(actionsIn(operating)).toContain('events:DescribeRule');
});

describe('after the stack is gone', () => {
  const company = {
    ...{ APP_URL: 'https://api.example.com', OIDC_ISSUER: 'https://login.example.com' },
    ...{ OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: true },
  };
  const { template } = synthesizeStack({ edge: true, canary: true, ...company });
  const [tables, secrets] = ['AWS::DynamoDB::GlobalTable', 'AWS::SecretsManager::Secret'].map((type) =>
    Object.entries(template.findResources(type)),
  ) as [[string, AnyTree][], [string, AnyTree][]];
  const [, mapping = '{}'] = /```json\n([\s\S]+?)```/.exec(readFileSync('docs/recovery.md', 'utf8')) ?? [];

  test('everything that the stack retains is imported, by its logical ids', () => {
    const expected = [...tables.map(([id]) => [id, ['TableName']]), ...secrets.map(([id]) => [id, ['Id']])];
    const told = Object.entries(JSON.parse(mapping)).map(([id, names]) => [id, Object.keys(names as object)]);
    expect(told.sort()).toEqual(expected.sort());
  });

  test('every secret is found by its description', () => {
    const recovery = readFileSync('docs/recovery.md', 'utf8').replaceAll(/\s+/g, ' ');
    for (const [id, { Properties }] of secrets)
      expect([id, recovery.includes(`'${Properties.Description}'`)]).toEqual([id, true]);
  });

  test('recovery.json lets only a gateway’s secrets be deleted', () => {
    const arnOf = (id: string) => `arn:aws:secretsmanager:REGION:ACCOUNT:secret:${id}-x`;
    const mayDelete = (id: string) => allows(readPolicy('recovery'), 'secretsmanager:DeleteSecret', arnOf(id));
    for (const [id] of secrets) expect([id, mayDelete(id)]).toEqual([id, true]);
    expect(mayDelete('SecretsOfSomebodyElse')).toBe(false);
  });

  test('what is imported was retained, and refers to nothing else', () => {
    for (const [, { DeletionPolicy, Properties }] of [...tables, ...secrets]) {
      expect(DeletionPolicy).toBe('Retain');
      const references = [...JSON.stringify(Properties).matchAll(/"(Ref|Fn::GetAtt)":\[?"([^"]+)/g)];
      expect(references.map(([, , to]) => to).filter((to) => !to?.startsWith('AWS::'))).toEqual([]);
    }
  });
});
