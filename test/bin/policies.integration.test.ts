import { expect, test } from '@jest/globals';
import { fingerprint } from '../../operator/upstream-key/members.ts';
import { startDeployedStack } from '../support/deployed-stack.ts';
import { type FakeService, startFakeService } from '../support/fake-service.ts';
import { allows, readPolicy } from '../support/iam-policy.ts';
import { startStoreProxy } from '../support/store-proxy.ts';
import { startVersionedSecret } from '../support/versioned-secret.ts';

const tables = { keys: 'KEYS_TABLE', quota: 'QUOTA_TABLE' } as const;

/** The resource of an operation on a table, as the policy writes it. */
function resourceOf(body: string): string {
  const { TableName, IndexName } = JSON.parse(body) as { TableName: keyof typeof tables; IndexName?: string };
  const table = `arn:aws:dynamodb:REGION:ACCOUNT:table/${tables[TableName]}`;
  return IndexName === undefined ? table : `${table}/index/${IndexName}`;
}

const operationOf = ({ requests }: FakeService, index: number) =>
  String(requests[index]?.headers['x-amz-target']).replace(/^.*\./, '');

test('operators may do everything that their programs call, and the programs call nothing else', async () => {
  await using started = new AsyncDisposableStack();
  const stack = started.use(await startDeployedStack({ NetworkSaltSecret: 'NETWORK_SALT_SECRET' }));
  const store = started.use(await startStoreProxy(stack.dynamoDb.endpoint));
  const json = (value: object) => JSON.stringify(value);
  const secrets = started.use(
    await startFakeService((response) => response.end(json({ SecretString: 'the salt of the stack' }))),
  );
  const logs = started.use(
    await startFakeService((response) => response.end(json({ queryId: 'query', status: 'Complete', results: [] }))),
  );
  const endpoints = {
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: logs.url,
  };
  const run = (program: 'keys' | 'stop' | 'resume', ...words: string[]) => stack.run(program, words, endpoints);

  const { id } = JSON.parse(await run('keys', 'issue', '--member', 'ada', '--json')) as { id: string };
  await run('keys', 'list');
  await run('keys', 'list', '--member', 'ada', '--state', 'live');
  await run('keys', 'show', id);
  await run('keys', 'limit', id, '7');
  await run('keys', 'expire', id, '30d');
  await run('keys', 'rotate', id, '--overlap', '1h');
  await run('keys', 'revoke', id);
  await run('keys', 'link', '203.0.113.7', '--member', 'ada');
  await run('keys', 'usage');
  await run('keys', 'usage', '--tokens');
  await run('stop');
  await run('resume');

  const policy = readPolicy('operator');
  const asked = new Set(store.operations.map(({ name, body }) => `dynamodb:${name} ${resourceOf(body)}`));
  for (const _ of stack.cloudFormation.requests)
    asked.add('cloudformation:DescribeStacks arn:aws:cloudformation:REGION:ACCOUNT:stack/STACK/1');
  for (const index of secrets.requests.keys())
    asked.add(`secretsmanager:${operationOf(secrets, index)} NETWORK_SALT_SECRET`);
  for (const index of logs.requests.keys()) {
    asked.add(`logs:${operationOf(logs, index)} arn:aws:logs:REGION:ACCOUNT:log-group:STACK-GatewayLogs1:*`);
  }
  expect(asked.size).toBeGreaterThan(10);
  expect([...asked].filter((one) => !allows(policy, ...(one.split(' ') as [string, string])))).toEqual([]);

  // Conversely, actions that no program calls are those of runbook commands.
  const used = new Set([...asked].map((one) => one.split(' ')[0]));
  const idle = policy.statements.flatMap(({ actions }) => actions).filter((action) => !used.has(action));
  expect(idle.sort()).toEqual([
    'cloudformation:ListStackResources',
    'cloudwatch:DescribeAlarms',
    'cloudwatch:GetDashboard',
    'cloudwatch:GetMetricData',
    'dynamodb:UpdateTable',
    'events:DescribeRule',
    'lambda:DeleteFunctionConcurrency',
    'lambda:GetAccountSettings',
    'lambda:GetFunction',
    'lambda:GetFunctionConcurrency',
    'lambda:PutFunctionConcurrency',
    'logs:FilterLogEvents',
    'secretsmanager:PutSecretValue',
    'secretsmanager:RestoreSecret',
  ]);
});

test('whoever has the upstream’s keys may do what upstream-key calls, and nothing else', async () => {
  await using stack = await startDeployedStack({ UpstreamSecret: 'UPSTREAM_SECRET' });
  await using secret = await startVersionedSecret('UPSTREAM_SECRET', '{"UPSTREAM_API_KEYS": "sk-a"}');
  const endpoint = { AWS_ENDPOINT_URL_SECRETS_MANAGER: secret.url };
  await stack.run('upstream-key', ['list'], endpoint);
  await stack.run('upstream-key', ['add'], endpoint, 'sk-b');
  await stack.run('upstream-key', ['remove', 'UPSTREAM_API_KEYS', fingerprint('sk-a')], endpoint);
  const asked = [...new Set(secret.operations)].map((operation) => `secretsmanager:${operation}`);
  const { statements } = readPolicy('upstream-key');
  expect(statements.flatMap(({ actions }) => actions).sort()).toEqual(
    ['cloudformation:DescribeStacks', ...asked].sort(),
  );
});
