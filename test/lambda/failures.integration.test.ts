import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  empty,
  flood,
  hangUp,
  head,
  html,
  interim,
  json,
  raw,
  reset,
  type Script,
  silence,
  sse,
  write,
} from '../../local/upstream/script.ts';
import { startDeafUpstream } from '../support/deaf-upstream.ts';
import { refusingUrl } from '../support/fake-upstream.ts';
import { dialectNames } from '../support/fixtures.ts';
import { testRows } from '../support/test-rows.ts';
import { expectRefusal, type Refusal, startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const upstreamError = { code: 'upstream_error', charged: 0 } as const;
const unreachable = { status: 502, ...upstreamError, reason: 'unreachable' } as const;
const unusable = { status: 502, ...upstreamError, reason: 'unusable' } as const;
const late = { status: 504, code: 'upstream_timeout', reason: 'timeout', charged: 0 } as const;
const callersFault = { code: 'invalid_request', reason: 'caller', charged: 1 } as const;
const jsonHead = { 'content-type': 'application/json' };
const jsonWith = (headers: object = {}) => head(200, { ...jsonHead, ...headers });
const gzipped = jsonWith({ 'content-encoding': 'gzip' });
const leak = `AcmeCorp thunder ${canary.upstreamBody}`;
const mebibyte = 1024 * 1024;

const watched = await startWatchedGateway();
const { upstream, post } = watched.gateway;
afterAll(() => watched[Symbol.asyncDispose]());

describe('an upstream that answers with', () => {
  /** The upstream's status and the client's: one that is the caller's fault, one that is not, one that makes no sense. */
  testRows<[number, Refusal]>([
    [422, { status: 422, ...callersFault }],
    [429, { status: 503, code: 'service_unavailable', reason: 'limited', charged: 0 }],
    [529, { status: 529, reason: 'server_error', ...upstreamError }],
    [304, unusable],
  ])('an error status, its own fault or the caller’s, whatever the body', async (status, expected) => {
    const bodies: readonly Script[] = [
      html(status, `<h1>${leak}</h1>`),
      [head(status, jsonHead), write(`{"error":{"message":"${canary.upstreamBody}`)],
      [head(status, { 'content-encoding': 'gzip' }), write(leak)],
    ];
    for (const [index, body] of bodies.entries()) {
      upstream.answer(body);
      expectRefusal('chat', await watched.ask('chat', { stream: index === 1 }), expected);
    }
  });

  test('a 400 says what was wrong, without names, links and keys', async () => {
    const message =
      'AcmeCorp: messages[0] is bad, see https://api.acmecorp.example/docs (key upstream-key-one, sk-abcdef123456).';
    upstream.answer(json(400, { error: { message, type: 'thunder_error', code: 'x' } }));
    const outcome = await watched.ask('chat');
    expectRefusal('chat', outcome, { status: 400, ...callersFault });
    expect(JSON.parse(outcome.text).error.message).toBe(
      'svc: messages[0] is bad, see (link removed) (key (key removed), (key removed)). This request was charged.',
    );
  });

  test('a 404 means “not offered” for a token count, which is free, and for a reference is the caller’s mistake', async () => {
    const ask = async (status: number, path: string, body: object) => {
      upstream.answer(html(status, leak));
      const before = await watched.remaining();
      const response = await post(path, body, { 'x-api-key': canary.clientKey });
      const text = await response.text();
      expect(text).not.toMatch(/acme|canary/i);
      const charged = before - (await watched.remaining());
      return [response.status, response.headers.get('x-svc-error'), JSON.parse(text).error.type, charged];
    };
    const count = (status: number) => ask(status, '/v1/messages/count_tokens', { model: 'svc', messages: [] });
    for (const status of [404, 405, 501]) {
      expect(await count(status)).toEqual([404, 'not_found', 'not_found_error', 0]);
    }
    for (const status of [429, 503]) expect(await count(status)).toMatchObject([503, {}, {}, 0]);
    const input = [{ type: 'item_reference', id: 'msg_1' }];
    const refused = [400, 'invalid_request', 'invalid_request_error', 1];
    expect(await ask(404, '/v1/responses', { model: 'svc', input })).toEqual(refused);
  });
});

const losses: readonly (readonly [string, Script, Refusal])[] = [
  ['reset before the head', [reset], unreachable],
  ['closed before the head', [hangUp], unreachable],
  ['reset within the head', [raw('HTTP/1.1 20'), reset], unreachable],
  ['closed within the head', [raw('HTTP/1.1 200 OK\r\ncontent-type: appl'), hangUp], unreachable],
  ['reset after an interim answer', [interim(103, { link: '<x>' }), reset], unreachable],
  ['no HTTP', [raw('SSH-2.0-AcmeCorp\r\n\r\n'), hangUp], unreachable],
  ['another protocol', [raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')], unreachable],
  ['a head without end', [raw(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`), hangUp], unreachable],
  ['reset after the head', [jsonWith(), reset], unusable],
  ['reset mid-body', [jsonWith(), write('{"id":"chatcmpl'), reset], unusable],
  ['closed mid-body', [jsonWith(), write('{"id":"chatcmpl'), hangUp], unusable],
  ['reset mid-gzip', [gzipped, write(gzipSync('{}').subarray(0, 15)), reset], unusable],
  ['reset mid-event', [...sse('data: {"id":"x","choi'), reset], unusable],
];

const { answer, events } = wire.chat;
const text = JSON.stringify(answer);
const stream = events.join('');

testRows<[boolean, Script]>([
  ...[
    empty(200),
    empty(204),
    html(200, leak),
    [jsonWith(), write(text.slice(0, -1))],
    [jsonWith(), write(text + text)],
    sse(stream),
    [jsonWith({ 'content-length': text.length + 9 }), write(text), hangUp],
    [gzipped, write(text)],
    [gzipped, write(gzipSync(text).subarray(0, -9))],
    [jsonWith({ 'content-encoding': 'compress' }), write(gzipSync(text))],
  ].map((body): [boolean, Script] => [false, body]),
  ...[
    html(200, leak),
    sse(': AcmeCorp\n\n: processing\n\n'),
    sse('data: [DONE]\n\n'),
    sse(`event: x\nid: ${canary.upstreamBody}\n\n`),
    sse(Buffer.alloc(9, 0xff)),
    [head(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }), write(stream)],
  ].map((body): [boolean, Script] => [true, body]),
])('an upstream answers 200 with something other than an answer or a stream', async (streamed, body) => {
  upstream.answer(body);
  expectRefusal('chat', await watched.ask('chat', { stream: streamed }), unusable);
});

describe.each(dialectNames)('an upstream of %s', (dialect) => {
  testRows<[boolean, Script]>([
    ...['[]', 'null', `"${canary.upstreamBody}"`].map((body): [boolean, Script] => [false, [jsonWith(), write(body)]]),
    [true, json(200, wire[dialect].answer)],
    [true, json(200, { error: { message: canary.upstreamBody } })],
    [true, sse('')],
    [true, sse(`data: {"broken":"${canary.upstreamBody}\n\n`)],
  ])('answers 200 with JSON that is neither an answer nor an event', async (streamed, body) => {
    upstream.answer(body);
    expectRefusal(dialect, await watched.ask(dialect, { stream: streamed }), unusable);
  });

  testRows([false, true])('answers 200 with an error', async (streamed) => {
    const message = 'AcmeCorp is overloaded for upstream-key-one, see https://acmecorp.example/status.';
    const error = dialect === 'messages' ? { type: 'error', error: { message } } : { error: { message } };
    const event = `data: ${JSON.stringify({ type: 'error', ...error })}\n\n`;
    upstream.answer(streamed ? sse(`: hi\n\n${event}`) : json(200, error));
    const outcome = await watched.ask(dialect, { stream: streamed });
    expectRefusal(dialect, outcome, { ...unusable, reason: 'reported' });
    expect(JSON.parse(outcome.text).error.message).toMatch(
      /^svc is overloaded for \(key removed\), see \(link removed\)\. This request/,
    );
  });
});

test('connections are lost before there is a usable answer, streamed or whole', async () => {
  // On an unused connection: a reset on a reused one would count as a stale connection, and be retried.
  await using fresh = await startWatchedGateway();
  for (const [index, [name, lost, expected]] of losses.entries()) {
    for (const stream of [false, true]) {
      fresh.gateway.upstream.answer(lost);
      const outcome = await fresh.ask('messages', { stream });
      expect([name, outcome.line.reason]).toEqual([name, expected.reason]);
      expectRefusal('messages', outcome, expected);
      expect(fresh.gateway.upstream.requests).toHaveLength(2 * index + (stream ? 2 : 1));
    }
  }
});

/** Timeouts that end a request before it is answered, and what the upstream sends until then. */
testRows<[Parameters<typeof startWatchedGateway>[0], boolean, Script]>([
  [{ environment: { REQUEST_TIMEOUT: '0.1' } }, false, [jsonWith(), write('{'), silence]],
  [{ environment: { UPSTREAM_IDLE_TIMEOUT: '0.1' } }, true, [...sse(''), silence]],
  // 5 s of the function's own timeout are reserved for the error.
  [{ functionTimeout: 5_100 }, true, [silence]],
])('a request to a silent upstream times out', async (options, stream, said) => {
  await using hurried = await startWatchedGateway(options);
  hurried.gateway.upstream.answer(said);
  expectRefusal('messages', await hurried.ask('messages', { stream }), late);
  expect(await hurried.gateway.upstream.requests.at(-1)?.closed).toBe('aborted');
});

describe('a connection', () => {
  async function expectNone(url: string, expected: Refusal) {
    const environment = { UPSTREAM_BASE_URL: url, UPSTREAM_CONNECT_TIMEOUT: '0.1', REQUEST_TIMEOUT: '5' };
    await using lonely = await startWatchedGateway({ environment });
    const outcomes = [await lonely.ask('chat'), await lonely.ask('chat', { stream: true })];
    for (const outcome of outcomes) expectRefusal('chat', outcome, expected);
    return outcomes.map(({ line }) => line.causeCode);
  }
  const connectTimeout = { ...late, reason: 'connect_timeout' };

  test('that is refused is named in the log', async () => {
    expect(await expectNone(refusingUrl, unreachable)).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });

  test('that is not accepted ends after UPSTREAM_CONNECT_TIMEOUT', async () => {
    await using deaf = await startDeafUpstream();
    await expectNone(deaf.url, connectTimeout);
  });

  test('and so does one that is accepted without a TLS handshake', async () => {
    const server = createServer((socket) => socket.resume().unref()).unref();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await expectNone(`https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, connectTimeout);
  });
});

test('a content-length that is too short breaks only that response', async () => {
  const lie = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n${text}`;
  for (let round = 0; round < 3; round += 1) {
    upstream.answer(json(200, wire.chat.answer), [({ socket }) => void socket.write(lie)]);
    expect(await watched.ask('chat')).toMatchObject({ status: 200, charged: 1 });
    expectRefusal('chat', await watched.ask('chat'), unusable);
  }
});

/** More than the 32 MiB that are read of an answer. */
const tooMuch = 64 * mebibyte;
const packed = gzipSync(Buffer.alloc(33 * mebibyte, 'x'));
testRows<[string, boolean, Script, Refusal]>([
  // A caller can make a model write too much.
  ['an answer', false, [jsonWith(), flood(tooMuch)], { ...unusable, charged: 1 }],
  ['packed', false, [gzipped, write(packed.subarray(0, -9)), silence], { ...unusable, charged: 1 }],
  ['an event', true, [...sse('data: "'), flood(tooMuch)], { ...unusable, charged: 1 }],
  // An error message is never that long.
  ['an error', false, [head(400, jsonHead), flood(tooMuch)], { status: 400, ...callersFault }],
])('a body that is too long is not read to its end, compressed or not', async (_, streamed, script, expected) => {
  upstream.answer(script);
  expectRefusal('chat', await watched.ask('chat', { stream: streamed }), expected);
  const asked = upstream.requests.at(-1);
  expect(await asked?.closed).toBe('aborted');
  // What the gateway read, and what was in the kernel's buffers.
  expect(asked?.bytesWritten).toBeLessThan(50 * mebibyte);
});

test('an answer with tool arguments nested too deeply stays charged: the caller may have asked for that', async () => {
  upstream.answer([jsonWith(), write(`{"content":[{"input":${'['.repeat(10_001)}${']'.repeat(10_001)}}]}`)]);
  expectRefusal('messages', await watched.ask('messages'), { ...unusable, charged: 1 });
});
