import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hashKey } from '../../lambda/identity/issued-keys.ts';
import { accountLabel, accountMember, memberHash, memberLabel } from '../../lambda/identity/member.ts';
import { networkId } from '../../lambda/identity/network.ts';
import { keyOf, subkeyOf } from '../../lambda/settings/secrets.ts';
import { createKeyStore } from '../../lambda/store/admin/keys.ts';
import { openSqliteStore } from '../../lambda/store/sqlite/store.ts';
import type { KeyStore } from '../../lambda/store/store.ts';
import { type FakeSecrets, startFakeSecrets } from '../../local/fake-secrets.ts';
import { gatewayFileDirectory, writeGatewayFile } from '../../local/gateway-file.ts';
import { type DeployedStack, startDeployedStack } from '../support/deployed-stack.ts';
import { answer, startFakeService, startFakeStack } from '../support/fake-service.ts';
import { type Environment, runCommand, runNode } from '../support/run-command.ts';

// Some commands are whole processes, of which a busy machine starts one or two a second.
jest.setTimeout(30_000);

// The temporary directory is the test's own, and so are the gateway files in it; the ports are never listened on.
const temporary = mkdtempSync(join(tmpdir(), 'keys-test-'));
const port = 18787;
const dataDir = join(temporary, 'data');
const networkSalt = 'salt-of-a-test-gateway';
const outputs = {
  ...{ ServiceName: 'deployed', MemberLimit: '30', ContextWindow: '262144', OidcIssuer: 'https://login.example.com' },
  ...{ Currency: 'EUR', MemberBudget: '5/week', AppUrl: 'https://app.example.com' },
};

let stack: DeployedStack;
let secrets: FakeSecrets;
let store: KeyStore;

beforeAll(async () => {
  stack = await startDeployedStack(outputs);
  secrets = await startFakeSecrets({ 'the-salt-secret': 'salt-of-a-stack' });
  const { documents, endpoint: dynamodbEndpoint, keysTable, quotaTable } = stack.dynamoDb;
  store = createKeyStore(documents, keysTable);
  const file = {
    ...{ pid: process.pid, host: '127.0.0.1', port, url: `http://127.0.0.1:${port}` },
    ...{ dynamodbEndpoint, tables: { keysTable, quotaTable }, networkSalt },
    ...({ serviceName: 'acme', access: 'open', memberLimit: 40, burstLimit: 20 } as const),
  };
  writeGatewayFile(file, gatewayFileDirectory().replace(tmpdir(), temporary));
  // As a gateway that has ended leaves it.
  await (await openSqliteStore(dataDir, { now: Date.now, serves: true })).close();
});

afterAll(async () => {
  await secrets.close();
  await stack[Symbol.asyncDispose]();
  rmSync(temporary, { recursive: true });
});

/** A process that finds the local gateway. */
const keys = (...args: string[]) => runNode('bin/keys.ts', args, { TMPDIR: temporary, PORT: `${port}` });

test('on a running local gateway: one JSON document for programs, text for people', async () => {
  const { code, out, err } = await keys('issue', '--member', 'ada', '--json');
  expect([code, err]).toEqual([0, '']);
  const issued = JSON.parse(out);
  expect(await store.findKey(hashKey(issued.key))).toMatchObject({ id: issued.id, member: 'ada' });
  const linked = await keys('link', '203.0.113.7', '--member', 'ada');
  expect(linked).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^203\.0\.113\.7 counts as ada .*\n$/) });
  expect(await store.findLink(networkId('203.0.113.7', keyOf(networkSalt)))).toMatchObject({ member: 'ada' });
});

describe('faults are reported in one line, never with a stack trace', () => {
  test('wrong usage, and no such key', async () => {
    const { code, out, err } = await keys('issue', '--limit', 'x');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^error: option '--limit <requests>' argument 'x' is invalid.*\nUsage: npm run keys -- issue .*\n$/,
    );
    const said = 'error: there is no such key: `list` shows the ids of all\n';
    expect(await keys('show', 'key_unknown', '--json')).toEqual({ code: 1, out: '', err: said });
  });

  test('no gateway on this port: the start of one, or the ports that there are', async () => {
    const listAt = (TMPDIR: string) => runNode('bin/keys.ts', ['list'], { TMPDIR, PORT: '18788' });
    const start = 'start it with `PORT=18788 npm start`, set DATA_DIR';
    expect((await listAt(join(temporary, 'none'))).err).toBe(
      `error: no gateway is running on port 18788: ${start}, or pass --stack NAME\n`,
    );
    expect((await listAt(temporary)).err).toBe(
      `error: no gateway is running on port 18788, but on ${port}: set PORT to that, or pass --stack NAME\n`,
    );
  });

  const none = '/none';
  const nothing = { AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: none, AWS_SHARED_CREDENTIALS_FILE: none };
  const noCredentials =
    /^there are no credentials for AWS \(.+\): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/;
  const faraway = ['list', '--stack', 'Gateway', '--region', 'eu-west-3'];
  test.each<[words: string[], environment: Environment, said: RegExp]>([
    [
      ['usage', '--tokens'],
      { PORT: '18788', DATA_DIR: dataDir },
      /^a gateway on this machine prints its tokens in its log and keeps none .*: pass --stack NAME for a deployed one$/,
    ],
    [['list'], { PORT: 'x' }, /^PORT must be /],
    [['list', '--region', 'eu-west-1'], {}, /^--region belongs to --stack$/],
    [
      ['list', '--stack', 'Gateway'],
      nothing,
      /^no region is set: pass --region, or set AWS_REGION to the region of Gateway$/,
    ],
    [faraway, nothing, noCredentials],
  ])('%j with %j', async (words, environment, said) => {
    await expect(runCommand('keys', words, environment)).rejects.toThrow(said);
  });
});

describe('on a data directory', () => {
  test('keys last from one command to the next, even before a gateway has used it', async () => {
    // The gateway that runs on this port keeps its tables elsewhere.
    const environment = { PORT: `${port}`, DATA_DIR: join(temporary, 'new') };
    const { out } = await runNode('bin/keys.ts', ['issue', '--json'], { TMPDIR: temporary, ...environment });
    const { id, member } = JSON.parse(out);
    expect(await store.findById(id)).toBeUndefined();
    const show = async (more: Environment = {}) =>
      JSON.parse(await runCommand('keys', ['show', id, '--json'], { ...environment, ...more }));
    expect(await show()).toMatchObject({ member, usage: { limit: 50 } });
    expect(await show({ MEMBER_LIMIT: '60' })).toMatchObject({ usage: { limit: 60 } });
    const issue = (more: Environment) => runCommand('keys', ['issue'], { ...environment, HOST: '0.0.0.0', ...more });
    expect(await issue({})).toContain(`curl http://127.0.0.1:${port}/v1/`);
    expect(await issue({ GATEWAY_URL: 'http://office:8787' })).toContain('curl http://office:8787/v1/');
  });

  test('what is wrong with it is said in a sentence', async () => {
    const listed = runCommand('keys', ['list'], { PORT: '18788', DATA_DIR: import.meta.filename });
    await expect(listed).rejects.toThrow(/^DATA_DIR \/.* can't be used: .+$/);
  });

  test.each([
    ['keys', ['list']],
    ['stop', []],
    ['resume', []],
  ] as const)('a mistyped one is not created (%s)', async (command, words) => {
    const mistyped = join(temporary, 'mistyped');
    const said = new RegExp(`^DATA_DIR ${mistyped} can't be used: no gateway has used it yet: correct the path`);
    await expect(runCommand(command, words, { PORT: '18788', DATA_DIR: mistyped })).rejects.toThrow(said);
    expect(existsSync(mistyped)).toBe(false);
  });
});

describe('on a deployed stack', () => {
  const run = (words: readonly string[], more: Environment = {}) =>
    stack.run('keys', words, { AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url, ...more });
  const runJson = async (words: readonly string[], more?: Environment) =>
    JSON.parse(await run([...words, '--json'], more));

  test('the outputs lead to its tables, in the region that was named', async () => {
    const out = await run(['issue', '--member', 'far']);
    const key = /ltk_[\w-]{43}/.exec(out)?.[0] ?? 'none';
    expect(await store.findKey(hashKey(key))).toMatchObject({ member: 'far' });
    expect(out).toContain('30 requests a day');
    expect(out).toContain('5.00 EUR a week, shared by all keys of the member');
    expect(out).toContain('curl https://abc.example/v1/chat/completions');
    expect(out).toContain('"model":"deployed"');
    expect(stack.cloudFormation.requests.map(({ headers }) => headers.authorization)).toEqual([
      expect.stringContaining('/eu-west-3/cloudformation/'),
    ]);
    expect(secrets.reads).toEqual([]);
    const blocks = await run(['setup', 'codex']);
    expect(blocks).toContain('model_context_window = 262144');
    expect(blocks).toContain('curl -fsS https://app.example.com/cli/login.sh | sh');
    expect(await run(['setup', 'codex', '--key', 'ltk_mine'])).toContain('export GATEWAY_KEY=ltk_mine\n');
  });

  test('link reads the salt from its secret', async () => {
    await run(['link', '203.0.113.7', '--member', 'far']);
    const link = await store.findLink(networkId('203.0.113.7', keyOf('salt-of-a-stack')));
    expect(link?.member).toBe('far');
    expect(secrets.reads).toEqual(['the-salt-secret']);
  });

  test('its log provides the tokens, and members get their names back', async () => {
    const { id } = await runJson(['issue', '--member', 'far', '--label', 'desk']);
    const row = { key: id, member: memberHash(subkeyOf(keyOf('salt-of-a-stack'), memberLabel), 'far'), answers: '2' };
    const results = [Object.entries(row).map(([field, value]) => ({ field, value }))];
    await using logs = await startFakeService(answer(200, { queryId: 'q', status: 'Complete', results }));
    const { keys: rows } = await runJson(['usage', '--tokens'], { AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: logs.url });
    expect(rows).toMatchObject([{ key: id, label: 'desk', member: 'far', answers: 2 }]);
    expect(JSON.parse(logs.requests[0]?.body ?? '')).toMatchObject({ logGroupName: 'the-log-group' });
    expect(logs.requests[0]?.headers.authorization).toContain('/eu-west-3/logs/');
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

  test('a stack that is no gateway, and one that links no network', async () => {
    await using other = await startFakeStack({});
    const ofOther = { AWS_ENDPOINT_URL_CLOUDFORMATION: other.url };
    await expect(run(['list'], ofOther)).rejects.toThrow('has no output NetworkSaltSecret');
    await using closed = await startDeployedStack({ Access: 'keys' });
    const linked = closed.run('keys', ['link', '203.0.113.9', '--member', 'far']);
    await expect(linked).rejects.toThrow('links count for nothing: issue a key instead');
  });
});
