import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../local/dynamodb.ts';
import { readGatewayFile } from '../../local/gateway-file.ts';
import { type GatewayProcess, spawnGateway, startGatewayProcess } from './gateway-process.ts';

const run = promisify(execFile);
const remaining = async ({ url }: GatewayProcess, key: string) => {
  const response = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': key } });
  await response.text();
  return { status: response.status, remaining: response.headers.get('x-svc-remaining') };
};
const chat = ({ url }: GatewayProcess, key: string, stream = false) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc', stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });

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
}

/** An upstream whose streams say one word and end when the test says so. */
async function startSlowUpstream() {
  const streams: ServerResponse[] = [];
  const send = (response: ServerResponse, delta: object, finish_reason: string | null) => {
    const chunk = { id: 'a', object: 'chat.completion.chunk', created: 0, model: 'text-1' };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    send(response, { role: 'assistant', content: 'first\n' }, null);
    streams.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    variables: {
      UPSTREAM_BASE_URL: `http://127.0.0.1:${port}/v1`,
      UPSTREAM_TEXT_MODEL: 'text-1',
      UPSTREAM_VISION_MODEL: 'vision-1',
      UPSTREAM_API_KEYS: 'upstream-key',
    },
    finish() {
      for (const response of streams) {
        send(response, { content: 'last' }, 'stop');
        response.end('data: [DONE]\n\n');
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Reads a stream up to the given word and returns a function that reads the rest. */
async function readUntil(response: Response, word: string): Promise<() => Promise<string>> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!seen.includes(word)) {
    const piece = await reader?.read();
    if (!piece || piece.done) throw new Error(`ended before '${word}': ${seen}`);
    seen += piece.value;
  }
  return async () => {
    let rest = '';
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) rest += piece.value;
    return rest;
  };
}

describe('npm start', () => {
  test('prints commands that work as they are, has pages, and keeps a file for the operator while it runs', async () => {
    await using gateway = await startGatewayProcess();
    const commands = gateway.output().match(/^curl .+$/gm) ?? [];
    expect(commands).toHaveLength(7);
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', `${command} -sS -m 20 -w '\\n%{http_code}'`]);
      expect(stdout.split('\n').at(-1)).toBe('200');
      expect(stdout).toContain(command.includes('count_tokens') ? 'input_tokens' : '"svc"');
    }
    expect(commands[0]).toContain('curl -i');
    expect(gateway.output()).not.toContain('\u001b');
    expect(await remaining(gateway, gateway.key)).toEqual({ status: 200, remaining: '46' });
    expect(await remaining(gateway, 'guest')).toEqual({ status: 200, remaining: '2' });

    await expectPages(gateway);

    const { port, url } = gateway;
    expect(readGatewayFile(port)).toMatchObject({ port, url, embedded: true, serviceName: 'svc', memberLimit: 50 });
    gateway.signal('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(readGatewayFile(port)).toBeUndefined();
    expect(gateway.errors()).toBe('');
  });

  test('listens on every address if asked to, prints one that works, and warns of what is not as it seems', async () => {
    await using gateway = await startGatewayProcess({
      ...{ HOST: '0.0.0.0', SERVICE_NAME: 'acme', GUEST_LIMIT: '0', UPSTREAM_TEXT_MODEL: 'words' },
    });
    expect(gateway.url).toBe(`http://0.0.0.0:${gateway.port}`);
    const commands = gateway.output().match(/^curl .+$/gm) ?? [];
    expect(commands).toHaveLength(6);
    for (const command of commands) expect(command).toContain(`http://127.0.0.1:${gateway.port}/v1/`);
    const { stdout } = await run('sh', ['-c', `${commands[1]} -sS -m 20`]);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'acme' });
    expect(gateway.errors().split('\n')).toEqual([
      expect.stringMatching(/^warning: .*ignores UPSTREAM_TEXT_MODEL$/),
      expect.stringMatching(/^warning: HOST 0\.0\.0\.0 .* demo/),
      expect.stringMatching(/^warning: HOST 0\.0\.0\.0 .* NETWORK_SALT/),
      '',
    ]);
  });
});

describe('faults that stop the start, with one line for each and no stack trace', () => {
  const failing = async (variables: Record<string, string>) => {
    await using gateway = spawnGateway(variables);
    expect(await gateway.ended).toBe(1);
    expect(gateway.output()).toBe('');
    return gateway.errors().trimEnd().split('\n');
  };

  test('a taken port', async () => {
    await using gateway = await startGatewayProcess();
    const PORT = String(gateway.port);
    expect(await failing({ PORT })).toEqual([`PORT ${PORT} is taken: set PORT to another one`]);
    expect((await remaining(gateway, gateway.key)).status).toBe(200);
    expect(readGatewayFile(gateway.port)).toBeDefined();
  });

  test('an argument, as it takes none; --help says so', () => {
    const start = (...words: string[]) => spawnSync(process.execPath, ['bin/serve.ts', ...words], { encoding: 'utf8' });
    expect(start('--help')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('UPSTREAM_BASE_URL'),
    });
    expect(start('--port')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^unknown argument --port\n\nnpm start\n/),
    });
  });

  test('an address of another machine', async () => {
    expect(await failing({ HOST: '192.0.2.1' })).toEqual([
      expect.stringMatching(/^HOST 192\.0\.2\.1 is no address of this machine/),
    ]);
  });

  test('wrong values, all at once, before anything starts', async () => {
    // Nothing listens there: asking for tables first would fail with another error.
    const store = { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' };
    const wrong = { PORT: '80a', HOST: 'a b', BODY_BUDGET: 'much', ENGINE: 'steam', LOG_FORMAT: 'xml' };
    const faults = await failing({ ...store, ...wrong, GUEST_LIMIT: 'many', REQUEST_TIMEOUT: '-1' });
    expect(faults.map((line) => line.split(' must be ')[0])).toEqual([
      ...['PORT', 'HOST', 'BODY_BUDGET', 'ENGINE', 'LOG_FORMAT', 'REQUEST_TIMEOUT', 'GUEST_LIMIT'],
    ]);
  });

  test('a missing variable', async () => {
    expect(await failing({ UPSTREAM_BASE_URL: 'http://127.0.0.1:9/v1', UPSTREAM_TEXT_MODEL: 'a' })).toEqual([
      expect.stringMatching(/^UPSTREAM_VISION_MODEL is missing/),
    ]);
  });

  test('an unreachable store', async () => {
    const store = await startDynamoDb();
    await store.close();
    expect(await failing({ AWS_ENDPOINT_URL_DYNAMODB: store.endpoint })).toEqual([
      expect.stringContaining(`AWS_ENDPOINT_URL_DYNAMODB ${store.endpoint} can't be used: `),
    ]);
    expect(await failing({ AWS_ENDPOINT_URL_DYNAMODB: 'there' })).toEqual([
      expect.stringMatching(/^AWS_ENDPOINT_URL_DYNAMODB must be /),
    ]);
  });
});

describe('the tables', () => {
  let dataDir = '';
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  test('keep keys and quotas in DATA_DIR, for one gateway at a time', async () => {
    let key = '';
    {
      await using first = await startGatewayProcess({ DATA_DIR: dataDir });
      key = first.key;
      await (await chat(first, key)).text();
      expect(await remaining(first, key)).toEqual({ status: 200, remaining: '49' });

      await using second = spawnGateway({ DATA_DIR: dataDir });
      expect(await second.ended).toBe(1);
      expect(second.errors()).toBe(`DATA_DIR ${dataDir} can't be used: another gateway uses it\n`);

      first.signal('SIGTERM');
      expect(await first.ended).toBe(0);
    }
    await using again = await startGatewayProcess({ DATA_DIR: dataDir });
    expect(again.key).toBe('');
    expect(again.output()).toMatch(/member key .*can't be shown again.*npm run keys -- issue/);
    expect(await remaining(again, key)).toEqual({ status: 200, remaining: '49' });
  });

  test('survive a kill', async () => {
    const first = await startGatewayProcess({ DATA_DIR: dataDir });
    await (await chat(first, first.key)).text();
    await first[Symbol.asyncDispose]();
    expect(readGatewayFile(first.port)).toBeUndefined();
    await using again = await startGatewayProcess({ DATA_DIR: dataDir });
    expect(await remaining(again, first.key)).toEqual({ status: 200, remaining: '49' });
  });

  test('are created and used in another store if AWS_ENDPOINT_URL_DYNAMODB names one', async () => {
    const store = await startDynamoDb();
    try {
      const variables = { AWS_ENDPOINT_URL_DYNAMODB: store.endpoint };
      await using first = await startGatewayProcess(variables);
      expect(readGatewayFile(first.port)).toMatchObject({ dynamodbEndpoint: store.endpoint, embedded: false });
      // Two gateways on one store: each knows the keys that the other issued.
      await using second = await startGatewayProcess(variables);
      expect(second.key).toBe('');
      expect(await remaining(second, first.key)).toEqual({ status: 200, remaining: '50' });
    } finally {
      await store.close();
    }
  });
});

describe('a signal', () => {
  test('lets a running stream end; sent twice at once, as npm does, it counts as one', async () => {
    await using upstream = await startSlowUpstream();
    await using gateway = await startGatewayProcess(upstream.variables);
    expect(gateway.output()).toContain(`upstream    ${new URL(upstream.variables.UPSTREAM_BASE_URL).host}\n`);
    const { url, key } = gateway;
    const readRest = await readUntil(await chat(gateway, key, true), 'first');
    gateway.signal('SIGINT');
    gateway.signal('SIGINT');
    await gateway.says(/stopping/);
    await expect(fetch(url)).rejects.toThrow();
    upstream.finish();
    expect(await readRest()).toMatch(/last.*data: \[DONE\]/s);
    expect(await gateway.ended).toBe(0);
  });

  test('stops at once if it is repeated later', async () => {
    await using upstream = await startSlowUpstream();
    await using gateway = await startGatewayProcess(upstream.variables);
    const { port, key } = gateway;
    await readUntil(await chat(gateway, key, true), 'first');
    const again = setInterval(() => gateway.signal('SIGTERM'), 100);
    expect(await gateway.ended).toBe(1);
    clearInterval(again);
    expect(readGatewayFile(port)).toBeUndefined();
  });
});

test.each(['function-url', 'web'])(
  'ACCESS=keys closes it with ENGINE=%s, and it tells nobody otherwise',
  async (ENGINE) => {
    await using gateway = await startGatewayProcess({ ENGINE, ACCESS: 'keys' });
    expect(gateway.output()).not.toMatch(/guest|\/cli/);
    expect(readGatewayFile(gateway.port)).toMatchObject({ access: 'keys' });
    for (const [path, status] of [
      ['/cli', 404],
      ['/', 200],
      ['/docs', 200],
    ] as const) {
      expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, status]);
    }
    expect((await remaining(gateway, 'guest')).status).toBe(401);
    expect(await remaining(gateway, gateway.key)).toEqual({ status: 200, remaining: '50' });
  },
);

test('ENGINE=web serves the same through the HTTP server, and stops like that', async () => {
  await using gateway = await startGatewayProcess({ ENGINE: 'web', SHUTDOWN_GRACE: '0.1' });
  await expectPages(gateway);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(204);
  expect((await fetch(`${gateway.url}/cli`)).status).toBe(200);
  expect((await chat(gateway, gateway.key)).status).toBe(200);
  expect(await remaining(gateway, gateway.key)).toEqual({ status: 200, remaining: '49' });
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toBe(0);
  expect(gateway.output()).toMatch('at most 0.1 s');
  expect(gateway.errors()).toBe('');
});
