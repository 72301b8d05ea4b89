import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { type DemoUpstream, startDemoUpstream } from '../../../local/demo/demo-upstream.ts';
import { createProgram } from '../../../operator/doctor/program.ts';
import type { Row } from '../../../operator/doctor/row.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { type Meddling, startMeddlingProxy } from '../../support/meddling-proxy.ts';

let demo: DemoUpstream;
/** Writes as fast as it can, for what has nothing to do with time. */
let hastyDemo: DemoUpstream;
let gateway: TestGateway;
let hasty: TestGateway;

beforeAll(async () => {
  [demo, hastyDemo] = await Promise.all([startDemoUpstream(), startDemoUpstream({ pace: 0 })]);
  [gateway, hasty] = await Promise.all([startDemoGateway(demo), startDemoGateway(hastyDemo)]);
});
afterAll(async () => {
  await Promise.all([gateway, hasty].map((running) => running[Symbol.asyncDispose]()));
  await Promise.all([demo.close(), hastyDemo.close()]);
});

function startDemoGateway(upstream: DemoUpstream, environment: Readonly<Record<string, string>> = {}) {
  return startTestGateway({
    environment: {
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: upstream.apiKey,
      UPSTREAM_TEXT_MODEL: upstream.textModel,
      UPSTREAM_VISION_MODEL: upstream.visionModel,
      UPSTREAM_NAMES: upstream.names.join(','),
      BURST_LIMIT: '1000',
      ...environment,
    },
  });
}

async function run(...args: readonly string[]) {
  const said = { out: '', err: '', code: 0 };
  const program = createProgram({
    now: () => performance.now(),
    print: (text) => {
      said.out += `${text}\n`;
    },
    printError: (text) => {
      said.err += text;
    },
    setExitCode: (code) => {
      said.code = code;
    },
  });
  const thrown: unknown = await program.parseAsync(args, { from: 'user' }).catch((error) => error);
  return { ...said, thrown };
}

/** Examines a gateway through a proxy that spoils something: the rows that are no longer right. */
async function examineThrough(meddling: Meddling, examined: TestGateway): Promise<readonly Row[]> {
  await using proxy = await startMeddlingProxy(examined.url, meddling);
  const { out, code } = await run('--base', proxy.url, '--key', await examined.issueKey({ limit: 6 }), '--json');
  const { healthy, rows }: { healthy: boolean; rows: readonly Row[] } = JSON.parse(out);
  const failed = rows.filter(({ mark }) => mark === 'fail');
  expect([healthy, code]).toEqual(failed.length === 0 ? [true, 0] : [false, 1]);
  return failed;
}

const checksOf = (rows: readonly Row[]) => rows.map(({ area, check }) => `${area}: ${check}`);
const dialects = ['chat', 'responses', 'messages'];

test('a healthy gateway passes, for six requests of quota', async () => {
  const six = await gateway.issueKey({ limit: 6 });
  const { out, err, code, thrown } = await run('--base', `${gateway.url}/v1/`, '--key', six);
  expect([thrown, err, code]).toMatchObject([{}, 'This takes 6 of the 6 requests that the key has left.\n', 0]);
  expect(out).toMatch(/✔ chat +streams event by event +\d+ events in \d+ steps over \d+ ms\n/);
  expect(out).toMatch(/✔ quota +each answer is charged once +6 charged for 6 answers, 0 of 6 left\n/);
  expect(out).toMatch(/\nHealthy: 26 checks passed.\n$/);
  expect(out).not.toMatch(/[✘•]/);
});

test('through a proxy that leaves everything alone, nothing fails', async () => {
  expect(await examineThrough({}, gateway)).toEqual([]);
});

describe('a gateway fails, with a row that says so,', () => {
  test('behind something that holds streams back', async () => {
    const rows = await examineThrough({ holdsBack: true }, gateway);
    expect(checksOf(rows)).toEqual(dialects.map((dialect) => `${dialect}: streams event by event`));
    for (const { detail } of rows) expect(detail).toMatch(/in 1 steps .* something on the way holds the stream back$/);
  });

  test.each<[string, Meddling, string, RegExp]>([
    [
      'that leaks a header',
      { headers: (headers, path) => ({ ...headers, ...(path === '/v1/responses' && { 'x-acme-region': 'eu' }) }) },
      'hiding: no header of others',
      /^POST \/v1\/responses: x-acme-region$/,
    ],
    [
      'that names its server',
      { headers: (headers) => ({ ...headers, server: 'acme/1.0' }) },
      'hiding: no header of others',
      /server$/,
    ],
    [
      'that leaks a field in an event',
      { text: (text) => text.replaceAll('"object":"chat.completion.chunk"', '"provider":"Acme",$&') },
      'hiding: no trace in bodies',
      /^POST \/v1\/chat\/completions: provider is there$/,
    ],
    [
      'that leaks the model in one event only',
      { text: (text) => text.replace(/("type":"message_start".*"model":)"svc"/, '$1"acme-70b"') },
      'hiding: no trace in bodies',
      /^POST \/v1\/messages: message.model is acme-70b$/,
    ],
    [
      'without a request id',
      { headers: ({ 'request-id': _, ...headers }) => headers },
      'headers: quota and request id',
      /request-id is not x-request-id/,
    ],
    [
      'whose errors have another shape',
      { text: (text) => text.replace('"code":"not_found"', '"code":"not_found","param":null') },
      'errors: an unknown path',
      /^GET \/v1\/none: error: Unrecognized key: "param"$/,
    ],
    [
      'whose messages errors have the shape of the other dialects',
      {
        text: (text, path) =>
          path.includes('count_tokens') ? text.replace('{"type":"error","error"', '{"error"') : text,
      },
      'errors: no key',
      /^POST \/v1\/messages\/count_tokens: type/,
    ],
    [
      'whose errors have another status',
      { status: (status) => (status === 405 ? 404 : status) },
      'errors: a wrong method',
      /expected 405 method_not_allowed, not 404/,
    ],
    [
      'that answers CORS twice',
      { headers: (headers) => ({ ...headers, 'access-control-allow-origin': '*, *' }) },
      'cors: preflight',
      /is \*, \*, which no browser accepts$/,
    ],
    [
      'that does not count',
      { headers: (headers) => ({ ...headers, 'x-svc-remaining': '50' }) },
      'quota: each answer is charged once',
      /^0 charged for 6 answers/,
    ],
    [
      'that breaks off a stream',
      { text: (text) => text.replace('data: [DONE]\n\n', '') },
      'chat: streams to the end',
      /^it breaks off: its last event is/,
    ],
    [
      'with a page instead of an answer',
      { text: (text, path) => (path === '/v1/responses' ? '<html>' : text) },
      'responses: answers',
      /^no JSON: 200 <html>/,
    ],
    [
      'that hangs up',
      { drops: (path) => path === '/v1/messages' },
      'messages: can be asked',
      /^POST \/v1\/messages failed: /,
    ],
  ])('%s', async (_name, meddling, check, detail) => {
    const rows = await examineThrough(meddling, hasty);
    expect(checksOf(rows)).toContain(check);
    expect(rows.find((row) => `${row.area}: ${row.check}` === check)?.detail).toMatch(detail);
  });
});

describe('nothing is spent', () => {
  const cases: [string, () => Promise<readonly string[]>, RegExp][] = [
    [
      'a wrong key',
      async () => [gateway.url, `ltk_${'y'.repeat(43)}`],
      /^the gateway does not take this key: The API key is unknown/,
    ],
    [
      'too little quota',
      async () => [gateway.url, await gateway.issueKey({ limit: 5 })],
      /^this takes 6 requests, and the key has 5 of 5 left, and anew in \d+ minutes$/,
    ],
    ['a guest', async () => [gateway.url, 'guest'], /^this takes 6 requests, and the key has 3 of 3 left$/],
    [
      'another server',
      async () => [demo.url.replace(/\/v1$/, ''), 'any'],
      /^there is no gateway: GET \/v1\/models, it answered 404/,
    ],
    ['no server', async () => ['http://127.0.0.1:9', 'any'], /^GET \/v1\/models failed: /],
  ];
  test.each(cases)('on %s', async (_name, prepare, message) => {
    const [base = '', givenKey = ''] = await prepare();
    const before = gateway.log.length;
    const { out, thrown } = await run('--base', base, '--key', givenKey);
    expect(out).toBe('');
    expect(thrown).toMatchObject({ name: 'CommandError', message: expect.stringMatching(message) });
    expect(gateway.log.slice(before).filter(({ route }) => route !== '/v1/models')).toEqual([]);
  });

  test.each([
    [['--key', 'x'], "required option '--base <url>' not specified"],
    [['--base', 'gateway.example', '--key', 'x'], 'It must be an http(s) URL.'],
  ])('on wrong usage: %j', async (args, message) => {
    const { err, thrown } = await run(...args);
    expect(thrown).toBeInstanceOf(CommanderError);
    expect(err).toContain(message);
  });
});

test('what an upstream or an operator does not offer is noted, and fails nothing', async () => {
  await using named = await startDemoGateway(demo, { CORS_ORIGINS: 'https://chat.example' });
  await using proxy = await startMeddlingProxy(named.url, {
    status: (status, path) => (path.includes('count_tokens') && status === 200 ? 404 : status),
  });
  const { out, code } = await run('--base', proxy.url, '--key', await named.issueKey());
  expect(code).toBe(0);
  expect(out).toMatch(/• messages +counts tokens +the upstream does not offer it\n/);
  expect(out).toMatch(/• cors +preflight +only pages of named origins may\n/);
  expect(out).toMatch(/\nHealthy: 23 checks passed, 3 to note.\n$/);
});
