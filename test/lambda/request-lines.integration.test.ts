import { readFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { empty, eventText, head, json, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';
import { expectQuiet, personal } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { path, question, events } = wire.chat;
const member = {
  caller: 'member',
  network: expect.stringMatching(/^[\w-]{10,}$/),
  key: expect.stringMatching(/^key_/),
};
const usage = { prompt_tokens: 7, completion_tokens: 11 };
const whole = json(200, { ...(wire.chat.answer as object), usage });
const stream = sse([...events.slice(0, -1), eventText({ data: { choices: [], usage } }), ...events.slice(-1)].join(''));
const begun: Script = [head(200, { 'content-type': 'text/event-stream' }), write(events.slice(0, 2).join(''))];
const time = expect.any(Number);
/** A frozen clock, so that no burst crosses a minute. */
const noon = Date.parse('2026-11-21T12:00:00Z');
/** One request with one successful attempt. */
const asked = { Requests: 1, UpstreamFailedTries: 0 };
const askedInVain = { Requests: 1, UpstreamFailedTries: 1 };
const wentUpstream = { dialect: 'chat', route: path, model: 'svc', tries: 1, upstream: 'UPSTREAM', duration: time };

let gateway: TestGateway;
let key: string;

beforeEach(async () => {
  gateway = await startTestGateway({ environment: { BURST_LIMIT: '5' }, now: () => noon });
  key = await gateway.issueKey({ limit: 3 });
});
const documented = readFileSync('docs/logs.md', 'utf8');

afterEach(async () => {
  const names = new Set(gateway.log.flatMap((line) => Object.keys(line)));
  expect([...names].filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  expect(gateway.faults).toEqual([]);
  expectQuiet(gateway.log);
  await gateway[Symbol.asyncDispose]();
});

/** Sends a request and returns its only log line, with its metrics extracted. */
async function lineOf(send: () => Promise<Response>, answered = (response: Response) => response.text()) {
  const before = gateway.log.length;
  const response = await send();
  await answered(response).catch(() => {});
  const id = response.headers.get('x-request-id');
  const linesOf = () => gateway.log.slice(before).filter(({ requestId }) => requestId === id);
  await waitUntil(() => linesOf().length > 0, 'the request has left its line');
  const [line = {}, ...more] = linesOf();
  expect(more).toEqual([]);
  const { ColdStarts: _, ErrorAnswers = 0, ...metrics } = metricsOf(line);
  expect(ErrorAnswers).toBe(response.status >= 400 ? 1 : 0);
  return { status: response.status, line, metrics };
}

const ask = (body: object = {}, headers: object = {}) =>
  lineOf(() => gateway.post(path, { ...question, ...body }, { 'x-api-key': key, ...headers }));

describe('one line, with its metrics, of', () => {
  testRows([false, true])('an answer, and a stream', async (streamed) => {
    gateway.upstream.answer(streamed ? stream : whole);
    const { line, metrics } = await ask({ stream: streamed });
    expect(line).toMatchObject({
      ...{ ...member, ...wentUpstream, time: expect.stringMatching(/^20.*Z$/), level: 'info', message: 'answered' },
      ...{ status: 200, end: 'complete', stream: streamed, refunded: false, inputTokens: 7, outputTokens: 11 },
    });
    const begins = streamed && { TimeToFirstByte: time };
    expect(metrics).toEqual({ ...asked, ...begins, Duration: time, InputTokens: 7, OutputTokens: 11 });
    expect(line.timeToFirstByte).toBe(metrics.TimeToFirstByte);
  });

  test('a plain answer, which is not delayed by it', async () => {
    gateway.upstream.answer(whole);
    const linesThen: number[] = [];
    const writeHead = ServerResponse.prototype.writeHead;
    using _ = jest.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
      this: ServerResponse,
      ...head
    ) {
      linesThen.push(gateway.log.length);
      return writeHead.apply(this, head);
    });
    await ask();
    // The last head is the gateway's own.
    expect(linesThen.at(-1)).toBe(0);
  });

  testRows([
    [500, 'server_error', 'upstream_error'],
    [429, 'limited', 'service_unavailable'],
  ])('trouble upstream', async (upstreamStatus, reason, code) => {
    gateway.upstream.answer(empty(upstreamStatus));
    const { line, metrics } = await ask();
    const refused = { level: 'error', message: 'refused', reason, code, refunded: true, upstreamStatus };
    expect(line).toMatchObject({ ...wentUpstream, ...refused });
    const failed = { [`Refusals(${code})`]: 1, [`UpstreamFailures(${reason})`]: 1, Refunds: 1 };
    expect(metrics).toEqual({ ...askedInVain, Duration: time, ...failed });
  });

  test('a refusal by the upstream for which the caller is responsible, which is not a failure', async () => {
    gateway.upstream.answer(json(400, { error: { message: canary.upstreamBody } }));
    const { line, metrics } = await ask();
    expect(line).toMatchObject({ level: 'info', message: 'refused', reason: 'caller', refunded: false });
    expect(metrics).toEqual({ ...asked, Duration: time, 'Refusals(invalid_request)': 1 });
  });

  test('a stream that breaks', async () => {
    gateway.upstream.answer([...begun, write(wire.chat.failureEvent)]);
    const { status, line, metrics } = await ask({ stream: true });
    const expected = { ...wentUpstream, level: 'error', message: 'answered', end: 'failed', reason: 'reported' };
    expect(line).toMatchObject(expected);
    expect([status, line.status]).toEqual([200, 200]);
    // The client has got status 200: nothing was refused.
    const failed = { 'UpstreamFailures(reported)': 1, Refunds: 1 };
    expect(metrics).toEqual({ ...askedInVain, TimeToFirstByte: time, Duration: time, ...failed });
  });

  test('a stream whose client disconnects', async () => {
    gateway.upstream.answer([...begun, silence]);
    const leave = new AbortController();
    const body = JSON.stringify({ ...question, stream: true });
    const sent = { method: 'POST', body, headers: { 'x-api-key': key }, signal: leave.signal };
    const { line, metrics } = await lineOf(
      () => fetch(gateway.url + path, sent),
      async (response) => {
        await response.body?.getReader().read();
        leave.abort();
        return '';
      },
    );
    const left = { level: 'info', message: 'answered', end: 'client_gone', refunded: false };
    expect(line).toMatchObject({ ...wentUpstream, ...left });
    expect(metrics).toEqual({ ...asked, TimeToFirstByte: time, Duration: time });
  });

  testRows<[() => Promise<Response>, string, object]>([
    [() => gateway.post(path, question), 'missing_api_key', { route: path }],
    [() => gateway.post(path, '{', { 'x-api-key': key }), 'invalid_request', { refunded: false }],
    [() => gateway.post('/x', {}), 'not_found', { route: 'unknown' }],
  ])('a refusal', async (send, code, fields) => {
    const { line, metrics } = await lineOf(send);
    expect(line).toMatchObject({ level: 'info', message: 'refused', code, duration: time, ...fields });
    expect(line).not.toHaveProperty('tries');
    expect(metrics).toEqual({ Requests: 1, [`Refusals(${code})`]: 1 });
  });

  test('the models, which never go upstream, and a guest', async () => {
    const { line, metrics } = await lineOf(() => fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': 'x' } }));
    expect(line).toMatchObject({ route: '/v1/models', message: 'answered', status: 200, caller: 'guest' });
    expect(line).not.toHaveProperty('dialect');
    expect(metrics).toEqual({ Requests: 1 });
  });

  test('a preflight, which does not count as a request', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    const { line, metrics } = await lineOf(() => fetch(gateway.url + path, { method: 'OPTIONS', headers }));
    expect(line).toMatchObject({ route: path, message: 'answered', status: 204 });
    expect(metrics).toEqual({});
  });

  test('a WebSocket handshake, which is no refusal', async () => {
    const headers = { 'openai-beta': 'responses_websockets=2026-02-06' };
    const { line, metrics } = await lineOf(() => fetch(`${gateway.url}/v1/responses`, { headers }));
    expect(line).toMatchObject({ status: 426, code: 'upgrade_required' });
    expect(metrics).toEqual({ Requests: 1, WebSocketTries: 1 });
  });

  test('a store that is gone', async () => {
    await gateway.dynamoDb.close();
    const { line, metrics } = await ask();
    expect(line).toMatchObject({ level: 'error', code: 'service_unavailable' });
    expect(metrics).toEqual({ Requests: 1, 'Refusals(service_unavailable)': 1, GatewayErrors: 1 });
    // A refusal's quota snapshot can't be read either, but that loses no charge.
    await gateway.post(path, question);
    const warnings = gateway.log.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ message: 'figures not read' }]);
    expect(metricsOf(warnings[0] ?? {})).toEqual({});
  });
});

testRows(['KEYS_TABLE', 'QUOTA_TABLE'])(
  'a table that is not there is trouble with the store, whose cause is logged',
  async (name) => {
    await using gone = await startTestGateway({ environment: { [name]: 'mistyped' } });
    const answer = await gone.post(path, question, { 'x-api-key': 'guest' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    const line = gone.log.find(({ level }) => level === 'error');
    expect(line).toMatchObject({ code: 'service_unavailable', cause: 'ResourceNotFoundException' });
    expect(metricsOf(line ?? {})).toMatchObject({ GatewayErrors: 1 });
  },
);

test('the operator learns that the upstream’s keys are gone, but not that a caller made up a key', async () => {
  await using bare = await startTestGateway({ environment: { UPSTREAM_API_KEYS: '' } });
  for (const name of ['guest', 'ltk_made_up']) await bare.post(path, question, { 'x-api-key': name });
  const refused = { Requests: 1, ErrorAnswers: 1, 'Refusals(unconfigured)': 1 };
  expect(bare.log.map((line) => metricsOf(line))).toEqual([{ ...refused, ColdStarts: 1, GatewayErrors: 1 }, refused]);
});

test('the first request alone is a cold start', async () => {
  gateway.upstream.otherwise(whole);
  for (let count = 0; count < 2; count += 1) await ask();
  expect(gateway.log.map((line) => [line.coldStart, metricsOf(line).ColdStarts])).toEqual([
    ...[
      [true, 1],
      [undefined, undefined],
    ],
  ]);
});

test('each failed attempt that is followed by another counts on its own line', async () => {
  const environment = { UPSTREAM_API_KEYS: 'upstream-key-one,upstream-key-two', METRICS_NAMESPACE: 'Prod' };
  await using two = await startTestGateway({ environment });
  two.upstream.answer(empty(401), whole);
  const response = await two.post(path, question, { 'x-api-key': 'guest' });
  const requestId = response.headers.get('x-request-id');
  expect(two.log).toMatchObject([
    { level: 'warn', message: 'upstream failed', requestId, kind: 'credentials', upstreamStatus: 401 },
    { level: 'info', message: 'answered', requestId, tries: 2, upstream: 'UPSTREAM' },
  ]);
  expect(two.log.map((line) => metricsOf(line, 'Prod'))).toEqual([
    { 'UpstreamFailures(credentials)': 1, UpstreamFailedTries: 1 },
    { ...asked, ColdStarts: 1, Duration: time, InputTokens: 7, OutputTokens: 11 },
  ]);
});

// Requests that went upstream are covered by the tests of every way in which that may end.
test('refusals log nothing that callers said, nor who they are', async () => {
  const sent = { ...personal, 'x-api-key': canary.clientKey };
  for (const [address, body, headers] of [
    [path, question, personal],
    [path, question, { ...personal, 'x-api-key': 'ltk_canary-of-a-key' }],
    [`/v1/${canary.prompt}`, question, sent],
    [`${path}?key=${canary.clientKey}`, { ...question, model: canary.prompt }, sent],
    [path, `{"model":"svc","${canary.prompt}`, sent],
    [path, { ...question, messages: canary.prompt, stream: canary.prompt }, sent],
    [path, { ...question, [canary.prompt]: '[' }, { ...sent, 'anthropic-beta': 'é canary' }],
    [path, question, sent],
  ] as const) {
    const response = await gateway.post(address, body, headers);
    expect(await response.text()).not.toMatch(/canary-of-the-client-key|canary-of-a-key/);
    expect(response.status).toBeGreaterThanOrEqual(400);
  }
  expect(gateway.log).toHaveLength(8);
});
