import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCanary, readCanaryConfig } from '../../lambda/canary/canary.ts';
import { listenLocally } from '../../local/listen-locally.ts';
import { empty, eventText, hangUp, head, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

const { events } = wire.chat;
const whole = sse(events.join(''));
const begun = [head(200, { 'content-type': 'text/event-stream' }), write(events.slice(0, 2).join(''))];

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway({ environment: { BURST_LIMIT: '1000' } });
  key = await gateway.issueKey({ limit: 1_000, label: 'canary' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Run {
  readonly url?: string;
  readonly secret?: string | Error;
  readonly limit?: number;
}

/** Runs a canary once. Returns its log line and the metrics. */
async function run({ url = gateway.url, secret = JSON.stringify({ key }), limit = 20_000 }: Run = {}) {
  const lines: string[] = [];
  const environment = { CANARY_URL: `${url}/`, CANARY_SECRET_ID: 'canary', METRICS_NAMESPACE: 'Prod' };
  const canary = createCanary(readCanaryConfig(environment), {
    readSecret: async (id) => {
      if (secret instanceof Error || id !== 'canary') throw secret;
      return secret;
    },
    writeLog: (line) => lines.push(line),
    now: Date.now,
    timeLimits: { stream: limit, other: limit },
  });
  await canary();
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain(key);
  const line = JSON.parse(lines[0] ?? '');
  return { line, metrics: metricsOf(line, 'Prod') };
}

const well = { stream: 'ok', models: 'ok', refusal: 'ok' };

test('a healthy gateway passes three checks, for one request of the key’s quota', async () => {
  gateway.upstream.answer(whole);
  const before = gateway.upstream.requests.length;
  const { line, metrics } = await run();
  expect(line).toMatchObject({ level: 'info', message: 'canary', ...well, duration: expect.any(Number) });
  expect(metrics).toEqual({ CanaryFailures: 0 });
  expect(gateway.upstream.requests).toHaveLength(before + 1);
  const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
  await response.text();
  expect([response.headers.get('x-svc-limit'), response.headers.get('x-svc-remaining')]).toEqual(['1000', '999']);
});

test('a bare key is enough, and a stream may end without [DONE]', async () => {
  gateway.upstream.answer(sse(events.slice(0, -1).join('')));
  expect((await run({ secret: key })).line).toMatchObject(well);
});

describe('a broken gateway', () => {
  test.each<[string, Script, string]>([
    ['an upstream that fails', empty(500), 'status 500'],
    ['a stream that is cut', [...begun, hangUp], 'broken off'],
  ])('%s', async (_name, script, stream) => {
    gateway.upstream.answer(script);
    const { line, metrics } = await run();
    expect(line).toMatchObject({ level: 'error', message: 'canary', ...well, stream });
    expect(metrics).toEqual({ CanaryFailures: 1 });
  });

  test('a stream that stalls', async () => {
    gateway.upstream.answer([...begun, silence]);
    expect((await run({ limit: 1_000 })).line).toMatchObject({ level: 'error', stream: 'TimeoutError' });
  });

  test('a revoked key, and one whose quota is used up', async () => {
    expect((await run({ secret: 'ltk_unheard-of' })).metrics).toEqual({ CanaryFailures: 2 });
    const spent = await gateway.issueKey({ limit: 0 });
    expect((await run({ secret: spent })).line).toMatchObject({ ...well, stream: 'status 429' });
  });

  testRows<[Run, object]>([
    [{ url: 'http://127.0.0.1:2' }, { stream: 'ECONNREFUSED', models: 'ECONNREFUSED' }],
    [{ url: 'http://gateway.invalid' }, { models: /^(ENOTFOUND|EAI_AGAIN)$/ }],
    [{ secret: '{"key":""}' }, { key: 'none in the secret' }],
    [{ secret: new Error('no') }, { key: 'Error' }],
  ])('a missing secret, or one without a key', async (given, expected) => {
    const { line, metrics } = await run(given);
    for (const [name, value] of Object.entries(expected)) expect(line[name]).toMatch(value);
    expect(line.level).toBe('error');
    expect(metrics.CanaryFailures).toBeGreaterThan(0);
  });
});

const chunk = (model: string) => ({ model, choices: [{ delta: { content: 'ok' }, finish_reason: 'stop' }] });
const unfinished = eventText({ data: { choices: [{ delta: {} }] } });

testRows<[Partial<Record<'chat' | 'models' | 'unknownKey' | 'code', string>>, object]>([
  [{}, well],
  [{ unknownKey: '200' }, { ...well, refusal: 'status 200' }],
  [{ code: 'unauthorized' }, { ...well, refusal: 'another code' }],
  [{ models: '{"data":[{"id":"svc"}]}' }, { ...well, models: 'other models' }],
  [{ models: '{"data":[{"id":"svc"},{"id":"svc-vision"},{"id":"svc-embedding"}]}' }, well],
  [{ models: '{"data":[{"id":"svc"},{"id":"svc-vision"},{"id":"acme"}]}' }, { ...well, models: 'other models' }],
  [{ models: '<html>' }, { ...well, models: 'SyntaxError' }],
  [{ chat: eventText({ data: chunk('acme') }) }, { ...well, stream: 'another model' }],
  [{ chat: unfinished }, { ...well, stream: 'no end' }],
  [{ chat: eventText({ data: '[DONE]' }) }, { ...well, stream: 'no answer' }],
])('notices if something else answers in the gateway’s place', async (change, expected) => {
  const models = JSON.stringify({ data: [{ id: 'svc' }, { id: 'svc-vision' }] });
  const answers = {
    chat: eventText({ data: chunk('svc') }),
    models,
    unknownKey: '401',
    code: 'invalid_api_key',
    ...change,
  };
  const server = createServer((request, response) => {
    const isUnknown = request.headers['x-api-key']?.includes('made-up');
    const isChat = request.url === '/v1/chat/completions';
    const type = isChat ? 'text/event-stream' : 'application/json';
    response.writeHead(isUnknown ? Number(answers.unknownKey) : 200, { 'content-type': type });
    const refused = JSON.stringify({ error: { code: answers.code } });
    response.end(isChat ? answers.chat : isUnknown ? refused : answers.models);
  });
  const { url, close } = await listenLocally(server);
  try {
    expect((await run({ url })).line).toMatchObject(expected);
  } finally {
    await close();
  }
});

test('invalid settings prevent the start', () => {
  expect(() => readCanaryConfig({ CANARY_URL: 'gateway' })).toThrow(
    'CANARY_URL must be the http(s) URL of the gateway\nCANARY_SECRET_ID is missing',
  );
});
