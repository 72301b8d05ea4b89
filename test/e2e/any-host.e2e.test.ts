import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startGatewayProcess } from '../local/gateway-process.ts';
import { buildServerOnce } from '../support/build-server-once.ts';
import { startTestDynamoDb } from '../support/dynamodb.ts';
import { startFakeBedrock } from '../support/fake-bedrock.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { identity } from '../support/gateway.ts';
import { wire } from '../support/wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-host-'));
const docs = readFileSync('docs/hosting.md', 'utf8');
/** The block in docs/hosting.md with this language and text. */
const block = (language: string, holding: string): string => {
  const blocks = [...docs.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
  const [found = '', ...others] = blocks.filter((text) => text.includes(holding));
  expect([found === '', others.length]).toEqual([false, 0]);
  return found;
};
const pairs = (text: string) => Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]));

cpSync(await buildServerOnce(), join(folder, 'dist/server'), { recursive: true });
const dynamoDb = await startTestDynamoDb();
const upstream = await startFakeUpstream();
afterAll(async () => {
  await upstream.close();
  await dynamoDb.close();
  rmSync(folder, { recursive: true });
});

/** A settings file in the docs, by its first line, with values. Settings that it does not name are not set. */
function settingsOf(first: string, values: Readonly<Record<string, string>>): Record<string, string> {
  const lines = block('ini', `/etc/gateway.env\n${first}`).trim().split('\n');
  const named = lines.filter((line) => !line.startsWith('#')).map((line) => /^(\w+)=\S+$/.exec(line)?.[1] ?? line);
  expect(named.sort()).toEqual(Object.keys(values).sort());
  return { ...values };
}

/** What the docs set for a folder. */
const ofFolder = (DATA_DIR: string) =>
  settingsOf('DATA_DIR', {
    ...{ DATA_DIR, NETWORK_SALT: 'the salt of the tests', APP_URL: 'https://api.example.com' },
    ...{ UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'upstream-key-one' },
    UPSTREAM_TEXT_MODEL: identity.UPSTREAM_TEXT_MODEL,
  });

/** What they set for tables. */
const ofTables = () => ({
  ...ofFolder(''),
  ...settingsOf('AWS_REGION', {
    ...{ AWS_REGION: 'local', KEYS_TABLE: dynamoDb.keysTable, QUOTA_TABLE: dynamoDb.quotaTable },
    // There is no Secrets Manager here, and the two that they replace are set.
    ...{ NETWORK_SALT_SECRET_ID: '', UPSTREAM_SECRET_ID: '' },
  }),
  // Set by the host, not by the gateway: its identity for AWS, and the address of the tables.
  ...{ AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint },
});

const { path, question, answer } = wire.chat;
/** A guest's question, as a balancer hands it on that appends the caller's address. */
const ask = (url: string, from: string, key = 'guest') => {
  const headers = { 'x-api-key': key, 'x-forwarded-for': `203.0.113.9, ${from}` };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(question) });
};

test('with an older Node, says so in one sentence', () => {
  const older = join(folder, 'older.cjs');
  writeFileSync(older, `Object.defineProperty(process, 'versions', { value: { node: '20.11.0' } });`);
  const args = ['-r', older, join(folder, 'dist/server/index.js')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env: ofTables(), encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([1, '', 'This needs Node 24 or newer, not 20.11.0.\n']);
});

describe('the container', () => {
  const lines = readFileSync('operator/hosting/Dockerfile', 'utf8').trim().split('\n');
  const said = (instruction: string) =>
    lines.flatMap((line) => (line.startsWith(`${instruction} `) ? line.slice(instruction.length + 1) : []));
  const ownVariables = pairs(said('ENV').join(' '));

  test('says what it does in instructions that are carried out below, and is built as the docs say', () => {
    const known = /^(#.*|FROM node:24\.\d+\.\d+-slim|(COPY|RUN|ENV|VOLUME|USER|EXPOSE|HEALTHCHECK|CMD) .+)$/;
    expect(lines.filter((line) => !known.test(line))).toEqual([]);
    expect(said('USER')).toEqual(['node']);
    expect([said('VOLUME'), said('EXPOSE')]).toEqual([[ownVariables.DATA_DIR], [ownVariables.PORT]]);
    expect(block('bash', 'docker build')).toContain('docker build -f operator/hosting/Dockerfile -t gateway .');
  });

  test('starts with only what its steps have put there, answers, is healthy, and issues keys', async () => {
    const root = join(folder, 'container');
    for (const copy of said('COPY')) {
      const [from = '', to = ''] = copy.split(' ');
      cpSync(join(folder, from), join(root, to), { recursive: true });
    }
    const { username } = userInfo();
    for (const step of said('RUN')) {
      const here = step.replaceAll(' /', ` ${root}/`).replace(/-o node -g node/, `-o ${username}`);
      const { status, stderr } = spawnSync('sh', ['-ec', here], { encoding: 'utf8' });
      expect([step, status, stderr]).toEqual([step, 0, '']);
    }
    const DATA_DIR = join(root, ownVariables.DATA_DIR ?? '');
    expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700);
    const [command, option = '', file = ''] = JSON.parse(said('CMD')[0] ?? '[]');
    expect([command, option]).toEqual(['node', '--enable-source-maps']);
    // All of its ENV, except that it listens on a free port of this machine only.
    const own = { ...ownVariables, HOST: '127.0.0.1', PORT: '0', DATA_DIR };
    const env = { ...ofFolder(DATA_DIR), ...own, NODE_OPTIONS: option };
    await using server = await startGatewayProcess(env, join(root, file));
    upstream.otherwise(json(200, answer));
    const reply = await ask(server.url, '127.0.0.31');
    expect([reply.status, reply.headers.get('x-svc-remaining')]).toEqual([200, '2']);
    const pages = await Promise.all(['/', '/docs', '/cli'].map((page) => fetch(server.url + page)));
    for (const { status, headers } of pages) {
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching('text/html')]);
    }
    const [, check = ''] = /CMD (\[.*\])$/.exec(said('HEALTHCHECK')[0] ?? '') ?? [];
    const [, ...words] = JSON.parse(check) as string[];
    const checkHealth = () => spawnSync(process.execPath, words, { env: { PORT: `${server.port}` } }).status;
    expect(checkHealth()).toBe(0);

    // As `docker exec` has it.
    const [, issue = ''] =
      /docker exec gateway node (\/gateway\/keys\.js .+)/.exec(block('bash', 'docker build')) ?? [];
    const [keys = '', ...asked] = issue.split(' ');
    const issued = spawnSync(process.execPath, [join(root, keys), ...asked, '--json'], { env, encoding: 'utf8' });
    expect(issued.stderr).toBe('');
    const { key } = JSON.parse(issued.stdout);
    for (const known of [key, server.key]) expect((await ask(server.url, '127.0.0.32', known)).status).toBe(200);
    server.signal('SIGTERM');
    expect([await server.ended, server.errors()]).toEqual([0, '']);
    expect(checkHealth()).toBe(1);
  });
});

describe('the systemd unit', () => {
  const name = 'gateway@.service';
  const unit = readFileSync(`operator/hosting/${name}`, 'utf8');
  const said = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  test('is valid', () => {
    const file = join(folder, 'gateway@8787.service');
    writeFileSync(file, unit);
    const { error, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    // Without systemd, nothing can check the unit.
    if (error) return;
    expect(stderr.split('\n').filter((line) => line.includes(file) && !line.includes('not executable'))).toEqual([]);
  });

  const [node, ...words] = said('ExecStart')[0]?.split(' ') ?? [];
  const file = words.pop() ?? '';
  const own = pairs(said('Environment').join(' ').replaceAll('%i', '0'));
  test('has a folder for DATA_DIR, and time to stop', () => {
    expect(`/var/lib/${said('StateDirectory')[0]}`).toBe(/DATA_DIR=(.+)/.exec(block('ini', 'DATA_DIR='))?.[1]);
    expect(said('StateDirectoryMode')).toEqual(['0700']);
    // systemd waits longer than its grace before it kills it.
    expect(Number(said('TimeoutStopSec')[0])).toBeGreaterThan(Number(own.SHUTDOWN_GRACE));
    const install = block('bash', 'systemctl enable');
    for (const word of [
      `operator/hosting/${name}`,
      `useradd --system --no-create-home ${said('User')[0]}`,
      dirname(file),
    ]) {
      expect(install).toContain(word);
    }
  });

  test('starts by its own command line, with its settings before those of the file, and logs where in the sources an error arose', async () => {
    expect([node, words]).toEqual(['/usr/bin/node', ['--enable-source-maps']]);
    expect(own).toEqual({ PORT: '0', SHUTDOWN_GRACE: '120', NODE_ENV: 'production' });
    const root = join(folder, 'unit');
    cpSync(join(folder, 'dist/server'), join(root, dirname(file)), { recursive: true });
    const env = { ...ofTables(), ...own, NODE_OPTIONS: words.join(' '), QUOTA_TABLE: 'no-such-table' };
    await using server = await startGatewayProcess(env, join(root, file));
    expect((await fetch(`${server.url}/healthz`)).status).toBe(204);
    expect((await ask(server.url, '127.0.0.51')).status).toBe(503);
    server.signal('SIGTERM');
    expect(await server.ended).toBe(0);
    const frames = [...server.output().matchAll(/^\{.*/gm)].flatMap(([line]) => JSON.parse(line).at ?? []);
    expect(frames).toContainEqual(expect.stringMatching(/lambda\/[\w/-]+\.ts:\d+:\d+/));
    expect(frames.join()).not.toContain('index.js');
  });
});

test.each([
  ['in one folder', () => ofFolder(join(folder, 'shared'))],
  ['with the same tables', ofTables],
])('several processes %s count as one behind a balancer, and tell callers apart', async (_, settingsOfOne) => {
  upstream.otherwise(json(200, answer));
  const env = { ...settingsOfOne(), CLIENT_ADDRESS: 'x-forwarded-for', GUEST_LIMIT: '10' };
  const file = join(folder, 'dist/server/index.js');
  await using one = await startGatewayProcess(env, file);
  await using other = await startGatewayProcess(env, file);
  const replies = await Promise.all(
    [one, other].flatMap(({ url }) => Array.from({ length: 12 }, () => ask(url, '127.0.0.41'))),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(14);
  const another = await ask(other.url, '127.0.0.42');
  expect([another.status, another.headers.get('x-svc-remaining')]).toEqual([200, '9']);
});

test("with UPSTREAM_AUTH=aws it calls Bedrock with the host's own credentials, and says at the start what it took", async () => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const model = 'openai.gpt-oss-120b-1:0';
  const world = { region: 'us-east-1', roles: [{ credentials, models: [model] }], now: Date.now };
  await using bedrock = await startFakeBedrock(world);
  const { UPSTREAM_API_KEYS: _, ...others } = ofFolder(join(folder, 'bedrock'));
  const env = {
    ...{ ...others, UPSTREAM_AUTH: 'aws', UPSTREAM_TEXT_MODEL: model, AWS_REGION: 'us-east-1' },
    ...{ AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    UPSTREAM_BASE_URL: `${bedrock.origin}/openai/v1`,
  };
  await using server = await startGatewayProcess(env, join(folder, 'dist/server/index.js'));
  expect((await ask(server.url, '127.0.0.61')).status).toBe(200);
  expect(bedrock.seen).toHaveLength(1);
  expect(server.errors()).toMatch(/^UPSTREAM_AUTH aws took UPSTREAM_DIALECTS=chat$/m);
});
