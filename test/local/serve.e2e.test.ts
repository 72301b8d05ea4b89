import { execFile, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../bench/world/emulator.ts';
import { readGatewayFile } from '../../local/gateway-file.ts';
import { withinOneDay } from '../support/clock.ts';
import { runNode } from '../support/run-command.ts';
import { type GatewayProcess, spawnGateway, startGatewayProcess } from './gateway-process.ts';

const run = promisify(execFile);
const remaining = async ({ url }: GatewayProcess, key: string) => {
  const response = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } });
  await response.text();
  return { status: response.status, remaining: response.headers.get('x-svc-remaining') };
};
const post = ({ url }: GatewayProcess, path: string, key: string, body: object) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const chat = (gateway: GatewayProcess, key: string) =>
  post(gateway, '/v1/chat/completions', key, { model: 'svc', messages: [{ role: 'user', content: 'Hello' }] });

/** Beside the gateway are pages for people; everything else belongs to it. */
async function expectPages({ url }: GatewayProcess) {
  const read = async (path: string, method = 'GET') => {
    const response = await fetch(url + path, { method });
    return [response.status, response.headers.get('content-type'), (await response.text()).includes(`${url}/v1`)];
  };
  for (const path of ['/', '/docs']) expect(await read(path)).toEqual([200, 'text/html; charset=utf-8', true]);
  expect(await read('/docs/openapi.json')).toEqual([200, 'application/json', false]);
  expect(await read('/', 'POST')).toEqual([404, 'application/json', false]);
  expect(await read('/v1')).toEqual([404, 'application/json', false]);
  // For a page nothing is read of anyone's quota.
  for (const path of ['/', '/docs/site.css', '/cli/nowhere', '/oauth/token']) {
    const { headers } = await fetch(url + path);
    expect(['x-svc-limit', 'x-svc-remaining'].map((name) => headers.get(name))).toEqual(['3', '0']);
  }
  // As everything that is no request for the app.
  expect(await read(`/${'x'.repeat(20_000)}`)).toEqual([431, 'application/json', false]);
}

/** Runs the two lines that the gateway has printed, a key and a request. */
function paste(gateway: GatewayProcess) {
  const [lines = ''] = /^KEY=.+\ncurl .+$/m.exec(gateway.output()) ?? [];
  return run('sh', ['-c', `${lines} -sS -m 20`]);
}

describe('npm start', () => {
  const prints =
    'prints a screen, with a first request that works as it is, has pages, and keeps a file for the operator while it runs';
  // What its commands take of a daily limit is left again on the next day.
  test(
    prints,
    withinOneDay(async () => {
      await using gateway = await startGatewayProcess({ SHUTDOWN_GRACE: '0.1' });
      const { stdout } = await paste(gateway);
      expect(stdout).toMatch(/^data: \{.*"model":"svc".*\n(.*\n)*data: \[DONE\]\n+$/);
      expect(gateway.output().split('\n').length).toBeLessThanOrEqual(24);
      // Output that is no terminal may be kept and read by others: the key is in a file that only its user can read.
      expect(gateway.output()).not.toContain(gateway.key);
      const [, path = ''] = /^KEY="\$\(cat '(.+)'\)"$/m.exec(gateway.output()) ?? [];
      expect([statSync(path).mode & 0o777, gateway.output()]).toEqual([
        0o600,
        expect.stringMatching(/^callers {3}open to anybody who reaches this address$/m),
      ]);
      expect(gateway.output()).toContain(`docs      ${gateway.url}/docs; clients in a browser: ${gateway.url}/cli`);
      expect(gateway.output()).not.toContain('\u001b');
      // Guests have three requests for ever, which are the newcomer's own.
      expect(await remaining(gateway, gateway.key)).toEqual({ status: 200, remaining: '49' });
      expect(await remaining(gateway, 'guest')).toEqual({ status: 200, remaining: '3' });

      await expectPages(gateway);

      const { port, url } = gateway;
      expect(readGatewayFile(port)).toMatchObject({ port, url, serviceName: 'svc', memberLimit: 50 });
      expect((await fetch(`${url}/healthz`)).status).toBe(204);
      gateway.signal('SIGTERM');
      expect(await gateway.ended).toBe(0);
      expect(readGatewayFile(port)).toBeUndefined();
      expect(gateway.output()).toMatch('at most 0.1 s');
      expect(gateway.errors()).toBe('');
    }),
  );

  test('listens on every address if asked to, prints one that works, and warns of what is not as it seems', async () => {
    await using gateway = await startGatewayProcess({
      ...{ HOST: '0.0.0.0', SERVICE_NAME: 'acme', GUEST_LIMIT: '0', UPSTREAM_TEXT_MODEL: 'words' },
    });
    expect(gateway.url).toBe(`http://0.0.0.0:${gateway.port}`);
    const setup = spawnSync(process.execPath, ['bin/keys.ts', 'setup', 'openai'], {
      env: { ...process.env, PORT: `${gateway.port}` },
      encoding: 'utf8',
    });
    expect(setup.stdout).toContain(`http://127.0.0.1:${gateway.port}/v1`);
    const commands = gateway.output().match(/^curl .+$/gm) ?? [];
    expect(commands).toEqual([expect.stringContaining(`http://127.0.0.1:${gateway.port}/v1/`)]);
    expect((await paste(gateway)).stdout).toContain('"model":"acme"');
    expect(gateway.errors().split('\n')).toEqual([
      expect.stringMatching(/^warning: .*ignores UPSTREAM_TEXT_MODEL$/),
      expect.stringMatching(/^warning: HOST 0\.0\.0\.0 .* demo/),
      expect.stringMatching(/^warning: HOST 0\.0\.0\.0 .* NETWORK_SALT/),
      expect.stringMatching(/^warning: without APP_URL nobody can sign in/),
      '',
    ]);
  });
});

/** What stops the start: one line for each fault, and no stack trace. */
async function failing(variables: Record<string, string>) {
  await using gateway = spawnGateway(variables);
  expect(await gateway.ended).toBe(1);
  expect(gateway.output()).toBe('');
  return gateway.errors().trimEnd().split('\n');
}

describe('faults that stop the start', () => {
  test('an argument, as it takes none; --help says so', () => {
    const start = (...words: string[]) => spawnSync(process.execPath, ['bin/serve.ts', ...words], { encoding: 'utf8' });
    const usage = expect.stringContaining('UPSTREAM_BASE_URL');
    expect(start('--help')).toMatchObject({ status: 0, stderr: '', stdout: usage });
    const stderr = expect.stringMatching(/^unknown argument --port\n\nnpm start\n/);
    expect(start('--port')).toMatchObject({ status: 2, stdout: '', stderr });
  });

  test('wrong and missing values, all at once, before anything starts', async () => {
    const wrong = { PORT: '80a', HOST: 'a b', BODY_BUDGET: 'much', ENGINE: 'steam', LOG_FORMAT: 'xml' };
    const local = {
      DEMO_DIALECTS: 'prose',
      AWS_ENDPOINT_URL_DYNAMODB: 'there',
      UPSTREAM_BASE_URL: 'http://127.0.0.1:9/v1',
    };
    const faults = await failing({ ...wrong, ...local, GUEST_LIMIT: 'many', REQUEST_TIMEOUT: '-1' });
    expect(faults.map((line) => line.replace(/ must be .*/, ''))).toEqual([
      ...['PORT', 'HOST', 'BODY_BUDGET', 'ENGINE', 'LOG_FORMAT', 'DEMO_DIALECTS', 'AWS_ENDPOINT_URL_DYNAMODB'],
      ...['GUEST_LIMIT', 'REQUEST_TIMEOUT', expect.stringMatching(/^UPSTREAM_TEXT_MODEL is missing/)],
    ]);
  });

  test('names that are none, also of an upstream that would leave the demo to answer', async () => {
    expect(await failing({ UPSTREAM_BASURL: 'http://127.0.0.1:9/v1', GUEST_LIMT: '5' })).toEqual([
      'UPSTREAM_BASURL is not a known setting: did you mean UPSTREAM_BASE_URL?',
      'GUEST_LIMT is not a known setting: did you mean GUEST_LIMIT?',
    ]);
  });

  test('an address of another machine', async () => {
    expect(await failing({ HOST: '192.0.2.1' })).toEqual([
      expect.stringMatching(/^HOST 192\.0\.2\.1 is not an address of this machine/),
    ]);
  });
});

test('beside a gateway all commands work on what it serves, by the file that only its user can read', async () => {
  await using gateway = await startGatewayProcess({ ACCESS: 'keys' });
  const environment = { TMPDIR: process.env.TMPDIR, PORT: `${gateway.port}` };
  const run = async (program: string, ...words: string[]) => {
    const { code, out, err } = await runNode(`bin/${program}.ts`, [...words, '--json'], environment);
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out);
  };
  const { key, id } = await run('keys', 'issue');
  expect((await chat(gateway, key)).status).toBe(200);
  expect(await run('keys', 'usage')).toMatchObject({ top: [{ used: 1 }] });
  await run('stop', '--reason', 'tea');
  expect(await run('resume')).toMatchObject({ stopped: { reason: 'tea' } });
  expect(await run('keys', 'revoke', id)).toMatchObject({ state: 'revoked' });
  const { dataDir = '' } = readGatewayFile(gateway.port) ?? {};
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toBe(0);
  expect(existsSync(dataDir)).toBe(false);
});

test('DATA_DIR keeps keys and quotas, also after a kill; beside a gateway no other gets its port, but one may share its folder', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-test-'));
  const DATA_DIR = folder.path;
  await chmod(DATA_DIR, 0o755);
  const first = await startGatewayProcess({ DATA_DIR });
  expect(first.errors()).toContain(`DATA_DIR ${DATA_DIR} was open to other users of this machine, and no longer is\n`);
  const PORT = String(first.port);
  expect(await failing({ PORT })).toEqual([`PORT ${PORT} is taken: set PORT to another one`]);
  // A second gateway may use it at once, as it does while one follows another.
  await using beside = await startGatewayProcess({ DATA_DIR });
  expect(await remaining(beside, first.key)).toEqual({ status: 200, remaining: '50' });
  expect(readGatewayFile(first.port)).toBeDefined();
  const { key } = first;
  expect((await chat(first, key)).status).toBe(200);
  await first[Symbol.asyncDispose]();
  expect(readGatewayFile(first.port)).toBeUndefined();
  await using second = await startGatewayProcess({ DATA_DIR });
  expect(second.key).toBe('');
  expect(second.output()).toContain('npm run keys -- issue, list or setup CLIENT\n');
  expect(second.output()).toMatch(/with a key that was issued before: only its hash is kept\nKEY=YOUR_KEY\ncurl /);
  expect(await remaining(second, key)).toEqual({ status: 200, remaining: '49' });
});

test('AWS_ENDPOINT_URL_DYNAMODB names another store, in which it creates and finds its tables, if it is there', async () => {
  const store = await startDynamoDb();
  const variables = { AWS_ENDPOINT_URL_DYNAMODB: store.endpoint };
  try {
    await using first = await startGatewayProcess(variables);
    expect(readGatewayFile(first.port)).toMatchObject({
      dynamodbEndpoint: store.endpoint,
      tables: { keysTable: 'gateway-keys' },
    });
    // Two gateways on one store: each knows the keys that the other issued.
    await using second = await startGatewayProcess({ ...variables, ACCESS: 'keys' });
    expect(second.key).toBe('');
    expect(await remaining(second, first.key)).toEqual({ status: 200, remaining: '50' });
    expect((await remaining(second, 'guest')).status).toBe(401);
    // With ACCESS=keys it tells nobody of guests.
    expect(second.output()).not.toMatch(/guest/);
    expect(second.output()).toContain(`clients in a browser: ${second.url}/cli\n`);
    expect(readGatewayFile(second.port)).toMatchObject({ access: 'keys' });
    const statuses = ['/cli', '/', '/docs'].map(async (path) => (await fetch(second.url + path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  } finally {
    await store.close();
  }
  expect(await failing(variables)).toEqual([
    expect.stringContaining(`AWS_ENDPOINT_URL_DYNAMODB ${store.endpoint} can't be used: `),
  ]);
});

test('with DEMO_DIALECTS=chat the demo speaks only chat, and everybody is served all the same', async () => {
  await using gateway = await startGatewayProcess({ DEMO_DIALECTS: 'chat', LOG_FORMAT: 'json' });
  expect(gateway.output()).toContain('the built-in demo, which speaks only chat: the rest is translated;');
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const [path, body, answer] of [
    ['/v1/responses', { model: 'svc', input: 'Hello' }, { status: 'completed' }],
    ['/v1/messages', { model: 'svc', max_tokens: 99, messages }, { role: 'assistant' }],
    ['/v1/messages/count_tokens', { model: 'svc', messages }, { input_tokens: expect.any(Number) }],
  ] as const) {
    const response = await post(gateway, path, gateway.key, body);
    expect([response.status, await response.json()]).toMatchObject([200, answer]);
  }
  await gateway.says(/("translated":true.*){3}/s);
});

test('with METRICS_PORT the screen says where the metrics are', async () => {
  await using gateway = await startGatewayProcess({ METRICS_PORT: '0' });
  const [, metrics = ''] = /^metrics {3}(\S+)$/m.exec(gateway.output()) ?? [];
  expect(await (await fetch(metrics)).text()).toContain('http_server_active_requests 0');
});

test('ENGINE=function-url serves the same as behind a Function URL, and stops like that', async () => {
  await using gateway = await startGatewayProcess({ ENGINE: 'function-url', SHUTDOWN_GRACE: '0.1' });
  await expectPages(gateway);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(404);
  expect((await fetch(`${gateway.url}/cli`)).status).toBe(200);
  expect((await chat(gateway, gateway.key)).status).toBe(200);
  expect(await remaining(gateway, gateway.key)).toEqual({ status: 200, remaining: '49' });
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toBe(0);
  expect(gateway.output()).toMatch('at most 0.1 s');
  expect(gateway.errors()).toBe('');
});
