import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { accountLabel, accountMember, memberHash, memberLabel } from '../../lambda/identity/identify.ts';
import { hashKey } from '../../lambda/identity/keys.ts';
import { networkId } from '../../lambda/identity/network.ts';
import { keyOf, subkeyOf } from '../../lambda/settings/secrets.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { keysSchema, quotaSchema, toCreateTableInput } from '../../lambda/tables/schema.ts';
import { createMissingTables, type LocalDynamoDb, startDynamoDb } from '../../local/dynamodb.ts';
import { type FakeSecrets, startFakeSecrets } from '../../local/fake-secrets.ts';
import { gatewayFileDirectory, writeGatewayFile } from '../../local/gateway-file.ts';
import { createTestCaller } from '../support/dynamodb.ts';
import { answer, type FakeService, startFakeService, startFakeStack } from '../support/fake-service.ts';
import { runCommand } from '../support/run-command.ts';

// Each command is a whole process, of which a busy machine starts one or two a second.
jest.setTimeout(30_000);

// The temporary directory is the test's own, and so are the gateway files in it; the ports are never listened on.
const temporary = mkdtempSync(join(tmpdir(), 'keys-test-'));
const port = 18787;
const keysTable = 'keys-of-a-test';
const quotaTable = 'quota-of-a-test';
const networkSalt = 'salt-of-a-test-gateway';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

let dynamodb: LocalDynamoDb;
let store: ReturnType<typeof openStore>;

function openStore(endpoint: string) {
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials });
  return { client, keys: createKeyStore(createTestCaller(endpoint), keysTable) };
}

beforeAll(async () => {
  dynamodb = await startDynamoDb();
  store = openStore(dynamodb.endpoint);
  const tables = [toCreateTableInput(keysSchema, keysTable), toCreateTableInput(quotaSchema, quotaTable)];
  await createMissingTables(store.client, tables);
  const file = {
    ...{ pid: process.pid, host: '127.0.0.1', port, url: `http://127.0.0.1:${port}`, embedded: true },
    ...{ dynamodbEndpoint: dynamodb.endpoint, keysTable, quotaTable, networkSalt },
    ...({ serviceName: 'acme', access: 'open', memberLimit: 40, burstLimit: 20 } as const),
  };
  writeGatewayFile(file, gatewayFileDirectory().replace(tmpdir(), temporary));
});

afterAll(async () => {
  store.client.destroy();
  await dynamodb.close();
  rmSync(temporary, { recursive: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function keys(args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, TMPDIR: temporary, PORT: `${port}`, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, ['bin/keys.ts', ...args], { env }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

/** Runs a command that must succeed and reads the one JSON document that it prints. */
async function keysJson(args: readonly string[], environment?: Record<string, string>) {
  const { code, out, err } = await keys([...args, '--json'], environment);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

test('on a running local gateway: one JSON document for programs, text for people', async () => {
  const issued = await keysJson(['issue', '--member', 'ada']);
  expect(await store.keys.findKey(hashKey(issued.key))).toMatchObject({ id: issued.id, member: 'ada' });
  const shown = await keys(['show', issued.id]);
  expect(shown).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/used +0 of 40, 40 left until .*\n$/) });
  await keysJson(['link', '203.0.113.7', '--member', 'ada']);
  expect(await store.keys.findLink(networkId('203.0.113.7', keyOf(networkSalt)))).toMatchObject({ member: 'ada' });
});

describe('faults are reported in one line, never with a stack trace', () => {
  test('wrong usage', async () => {
    const { code, out, err } = await keys(['issue', '--limit', 'x']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^error: option '--limit <requests>' argument 'x' is invalid.*\nUsage: npm run keys -- issue .*\n$/,
    );
  });

  test('no such key', async () => {
    const err = 'error: there is no such key: `list` shows the ids of all\n';
    expect(await keys(['show', 'key_unknown', '--json'])).toEqual({ code: 1, out: '', err });
  });

  test('no gateway', async () => {
    const run = (words: string[], environment: Record<string, string>) => runCommand('keys', words, environment);
    await expect(run(['list'], { PORT: '18788' })).rejects.toThrow(
      'no gateway is running on port 18788: start it with `PORT=18788 npm start`, or pass --stack NAME',
    );
    await expect(run(['usage', '--tokens'], { PORT: '18788', DATA_DIR: join(temporary, 'no-log') })).rejects.toThrow(
      "tokens are summed up from a deployed gateway's log: pass --stack NAME",
    );
  });

  test('settings', async () => {
    await expect(runCommand('keys', ['list'], { PORT: 'x' })).rejects.toThrow(/^PORT must be /);
    const region = runCommand('keys', ['list', '--region', 'eu-west-1'], {});
    await expect(region).rejects.toThrow('--region belongs to --stack');
  });

  test('a stack without a region, or without credentials, with what to set', async () => {
    const nothing = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/none',
      AWS_SHARED_CREDENTIALS_FILE: '/none',
    };
    const region = 'error: no region is set: pass --region, or set AWS_REGION to the region of Gateway\n';
    expect(await keys(['list', '--stack', 'Gateway'], nothing)).toEqual({ code: 1, out: '', err: region });
    for (const environment of [nothing, { ...nothing, AWS_PROFILE: 'unknown' }]) {
      const { code, err } = await keys(['list', '--stack', 'Gateway', '--region', 'eu-west-3'], environment);
      expect(code).toBe(1);
      expect(err).toMatch(
        /^error: there are no credentials for AWS \(.+\): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n$/,
      );
    }
  });
});

describe('on a data directory', () => {
  test('keys last from one command to the next, even if the gateway is not running', async () => {
    const DATA_DIR = join(temporary, 'data');
    const { id } = await keysJson(['issue', '--member', 'ada'], { DATA_DIR });
    expect(await keysJson(['show', id], { DATA_DIR })).toMatchObject({ member: 'ada', usage: { limit: 50 } });
    const changed = await keysJson(['show', id], { DATA_DIR, MEMBER_LIMIT: '60' });
    expect(changed.usage.limit).toBe(60);
    expect((await keys(['show', id])).err).toContain('no such key');
  });

  test('a directory that another process holds is refused with that reason', async () => {
    const DATA_DIR = join(temporary, 'held');
    const holder = await startDynamoDb({ dataDir: DATA_DIR });
    try {
      const { code, err } = await keys(['list'], { DATA_DIR });
      expect(code).toBe(1);
      expect(err).toMatch(/^error: DATA_DIR .* another gateway uses it\n$/);
    } finally {
      await holder.close();
    }
  });
});

describe('on a deployed stack', () => {
  let cloudFormation: FakeService;
  let secrets: FakeSecrets;
  let environment: Record<string, string>;
  const outputs = {
    ...{ GatewayUrl: 'https://abc.example/', KeysTable: keysTable, QuotaTable: quotaTable },
    ...{ NetworkSaltSecret: 'the-salt-secret', ServiceName: 'deployed', MemberLimit: '30' },
    ...{ ContextWindow: '262144', OidcIssuer: 'https://login.example.com', Currency: 'EUR', MemberBudget: '5/week' },
    ...{ LogGroup: 'the-log-group', AppUrl: 'https://app.example.com' },
  };

  beforeAll(async () => {
    secrets = await startFakeSecrets({ 'the-salt-secret': 'salt-of-a-stack' });
    cloudFormation = await startFakeStack(outputs);
    environment = {
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
  });

  afterAll(async () => {
    await secrets.close();
    await cloudFormation[Symbol.asyncDispose]();
  });

  const run = (words: readonly string[], more: Record<string, string> = {}) =>
    runCommand('keys', [...words, '--stack', 'Gateway', '--region', 'eu-west-3'], { ...environment, ...more });
  const runJson = async (words: readonly string[], more?: Record<string, string>) =>
    JSON.parse(await run([...words, '--json'], more));

  test('the outputs lead to its tables, in the region that was named', async () => {
    const out = await run(['issue', '--member', 'far']);
    const key = /ltk_[\w-]{43}/.exec(out)?.[0] ?? 'none';
    expect(await store.keys.findKey(hashKey(key))).toMatchObject({ member: 'far' });
    expect(out).toContain('30 requests a day');
    expect(out).toContain('5.00 EUR a week, shared by all keys of the member');
    expect(out).toContain('curl https://abc.example/v1/chat/completions');
    expect(out).toContain('"model":"deployed"');
    expect(cloudFormation.requests.map(({ headers }) => headers.authorization)).toEqual([
      expect.stringContaining('/eu-west-3/cloudformation/'),
    ]);
    expect(secrets.reads).toEqual([]);
    const blocks = await run(['setup', 'codex']);
    expect(blocks).toContain('model_context_window = 262144');
    expect(blocks).toContain('curl -fsS https://app.example.com/cli/login.sh | sh');
  });

  test('link reads the salt from its secret', async () => {
    await run(['link', '203.0.113.7', '--member', 'far']);
    const link = await store.keys.findLink(networkId('203.0.113.7', keyOf('salt-of-a-stack')));
    expect(link?.member).toBe('far');
    expect(secrets.reads).toEqual(['the-salt-secret']);
  });

  test('its log provides the tokens, and members get their names back', async () => {
    const { id } = await runJson(['issue', '--member', 'far', '--label', 'desk']);
    const hash = memberHash(subkeyOf(keyOf('salt-of-a-stack'), memberLabel), 'far');
    const row = { key: id, member: hash, answers: '2', withoutUsage: '1', input: '1000000', output: '10' };
    const results = [Object.entries(row).map(([field, value]) => ({ field, value }))];
    await using logs = await startFakeService(
      answer(200, { queryId: 'the-query' }),
      answer(200, { status: 'Complete', results }),
    );
    const usage = ['usage', '--tokens', '--price', '3,15,0.3,3.75'];
    const { keys: rows } = await runJson(usage, { AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: logs.url });
    expect(rows).toMatchObject([{ key: id, label: 'desk', member: 'far', answers: 2, withoutUsage: 1, cost: 3.00015 }]);
    expect(JSON.parse(logs.requests[0]?.body ?? '')).toMatchObject({ logGroupName: 'the-log-group' });
    expect(logs.requests[0]?.headers.authorization).toContain('/eu-west-3/logs/');
    expect(secrets.reads).toEqual(['the-salt-secret', 'the-salt-secret']);
  });

  test('list and revoke find a person by the issuer among its outputs', async () => {
    const subkey = subkeyOf(keyOf('salt-of-a-stack'), accountLabel);
    const member = accountMember(subkey, 'https://login.example.com', 'ada');
    const { id } = await runJson(['issue', '--member', member]);
    const listed = await runJson(['list', '--subject', 'ada']);
    expect(listed.keys).toMatchObject([{ id, member, state: 'live' }]);
    const { revoked } = await runJson(['revoke', '--subject', 'ada']);
    expect(revoked).toMatchObject([{ id, state: 'revoked' }]);
  });

  test('a stack that does not exist is reported in AWS’s words', async () => {
    const error = '<Error><Code>ValidationError</Code><Message>no such stack</Message></Error>';
    await using service = await startFakeService((response) =>
      response.writeHead(400, { 'content-type': 'text/xml' }).end(`<ErrorResponse>${error}</ErrorResponse>`),
    );
    await expect(run(['list'], { AWS_ENDPOINT_URL_CLOUDFORMATION: service.url })).rejects.toThrow(/^no such stack$/);
  });

  test('a stack that is no gateway, and one that links no network', async () => {
    await using other = await startFakeStack({});
    const ofOther = { AWS_ENDPOINT_URL_CLOUDFORMATION: other.url };
    await expect(run(['list'], ofOther)).rejects.toThrow('has no output NetworkSaltSecret');
    await using closed = await startFakeStack({ ...outputs, Access: 'keys' });
    const linked = run(['link', '203.0.113.9', '--member', 'far'], { AWS_ENDPOINT_URL_CLOUDFORMATION: closed.url });
    await expect(linked).rejects.toThrow('links count for nothing: issue a key instead');
  });
});
