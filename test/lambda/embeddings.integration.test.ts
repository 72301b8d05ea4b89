import { afterAll, describe, expect, test } from '@jest/globals';
import { empty, hangUp, head, json, type Script, silence, write } from '../../local/upstream/script.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { PRICES } from '../support/prices.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { findIdentity } from '../support/upstream-identity.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';

const path = '/v1/embeddings';
const upstreamModel = 'acmecorp/thunder-embed';
const UPSTREAM_EMBEDDINGS_MODEL = upstreamModel;
const body = { model: 'svc-embedding', input: 'hi' };
const guest = { 'x-api-key': 'guest' };

/** In millionths, a token of svc-embedding costs 2. */
const prices = JSON.stringify({ ...JSON.parse(PRICES), 'svc-embedding': { input: 2 } });

const answerWith = (vector: unknown) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: vector }],
  ...{ model: upstreamModel, provider: 'AcmeCorp', usage: { prompt_tokens: 5, total_tokens: 5 } },
});
const answer = answerWith([0.25, -1]);
const shown = { ...answer, model: 'svc-embedding', provider: undefined };

const start = (environment: Record<string, string> = {}) =>
  startWatchedGateway({ environment: { UPSTREAM_EMBEDDINGS_MODEL, ...environment } });

/** Sends a request. Returns the response, its charge and its log line. */
async function ask(watched: WatchedGateway, script: Script, sent: unknown = body, key = 'guest') {
  watched.gateway.upstream.answer(script);
  const before = await watched.remaining(key);
  const response = await watched.gateway.post(path, sent, { 'x-api-key': key });
  const text = await response.text();
  const line = await watched.lineOf(response.headers.get('x-request-id'));
  return { response, text, line, charged: before - (await watched.remaining(key)) };
}

const watched = await start({ PRICES: prices, MODEL_ALIASES: 'text-embedding-*=svc-embedding' });
const { gateway } = watched;
afterAll(() => watched[Symbol.asyncDispose]());

/** The last request body that the upstream got. */
const sentLast = ({ gateway: { upstream } }: WatchedGateway) => String(upstream.requests.at(-1)?.body);

testRows([
  '{"input" : "hi", "model": "svc-embedding","encoding_format":"float","dimensions":9007199254740993}',
  '{"model":"svc-embedding","input":["a","b"],"encoding_format":"base64","user":"u"}',
  '{"model":"svc-embedding","input":[1,2,3]}',
  '{"model":"text-embedding-3-small","input":[[1,2],[3]],"stream":true}',
])('a body is passed through except for its model', async (sent) => {
  const { response } = await ask(watched, json(200, answer), sent);
  expect(response.status).toBe(200);
  expect(gateway.upstream.requests.at(-1)?.path).toBe(path);
  expect(sentLast(watched)).toBe(sent.replace(/"(svc-embedding|text-embedding-3-small)"/, `"${upstreamModel}"`));
});

testRows([[[0.25, -1]], ['AcmeCorp/AAA+Thunder/==']])(
  'an answer is charged, logged, and hides names outside its vectors',
  async (vector) => {
    const { response, text, line, charged } = await ask(watched, json(200, answerWith(vector)));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ ...shown, data: answerWith(vector).data })));
    expect(findIdentity(text.replace(JSON.stringify(vector), ''))).toEqual([]);
    expect(charged).toBe(1);
    expect(line).toMatchObject({
      ...{ message: 'answered', status: 200, route: path, dialect: 'embeddings', model: 'svc-embedding' },
      ...{ end: 'complete', inputTokens: 5, cost: 0.00001, upstream: 'UPSTREAM', tries: 1 },
    });
  },
);

test('the model is listed in both formats', async () => {
  const idsFor = async (headers: Record<string, string>) => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { ...guest, ...headers } });
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  const ids = ['svc', 'svc-vision', 'svc-embedding'];
  expect([await idsFor({}), await idsFor({ 'anthropic-version': '2023-06-01' })]).toEqual([ids, ids]);
});

testRows([
  [path, { model: 'svc', input: 'hi' }, 'invalid_model', 'svc makes no embeddings. Use svc-embedding.'],
  [path, { model: 'opus', input: 'hi' }, 'invalid_model', 'svc makes no embeddings. Use svc-embedding.'],
  [path, { model: 'ada', input: 'hi' }, 'invalid_model', "model is unknown: 'ada'. Use svc-embedding."],
  [path, { input: 'hi' }, 'invalid_request', 'model is missing. Use svc-embedding.'],
  [
    path,
    { model: 'svc-embedding' },
    'invalid_request',
    'input is missing: send a text, or an array of texts or of tokens.',
  ],
  [
    path,
    { model: 'svc-embedding', input: {} },
    'invalid_request',
    'input must be a string or an array, not an object.',
  ],
  [
    '/v1/chat/completions',
    { model: 'svc-embedding', messages: [] },
    'invalid_model',
    'svc-embedding makes only embeddings. Use svc or svc-vision.',
  ],
])('a request that the model can’t serve is told which model can', async (at, sent, code, message) => {
  const response = await gateway.post(at, sent, guest);
  expect([response.status, response.headers.get('x-svc-error')]).toEqual([400, code]);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error.message).toMatch(new RegExp(`^${message.replace(/[.'()]/g, '\\$&')}`));
});

test('without the setting, neither the path nor the model exists', async () => {
  await using plain = await startWatchedGateway();
  const response = await plain.gateway.post(path, body, guest);
  const error = { code: 'not_found', message: 'Embeddings are not offered here.' };
  expect([response.status, await response.json()]).toMatchObject([404, { error }]);
  const chat = await plain.gateway.post('/v1/chat/completions', { model: 'svc-embedding', messages: [] }, guest);
  expect(await chat.json()).toMatchObject({ error: { message: expect.stringMatching("^model is unknown: 'svc-emb") } });
});

test('an answer that reports an error, or holds no vectors, is the gateway’s own error, and is refunded', async () => {
  const reported = await ask(watched, json(200, { error: { message: 'AcmeCorp is full' } }));
  expect([reported.response.status, reported.charged]).toEqual([502, 0]);
  expect(JSON.parse(reported.text)).toMatchObject({ error: { message: expect.stringMatching(/^svc is full/) } });
  const unusable = await ask(watched, json(200, { data: [{ embedding: ['AcmeCorp'] }] }));
  expect([unusable.response.status, unusable.charged]).toEqual([502, 0]);
});

test('a budget is charged the model’s own price before the answer has ended', async () => {
  const key = await gateway.issueKey({ budget: 1_000_000, budgetWindow: 'month' });
  await ask(watched, json(200, answer), body, key);
  const read = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } });
  expect(await read.json()).toMatchObject({ budget: { spent: '0.00001', reserved: '0.00' } });
  const poor = await gateway.issueKey({ budget: 10, budgetWindow: 'month' });
  const refused = await gateway.post(path, body, { 'x-api-key': poor });
  expect([refused.status, refused.headers.get('x-svc-error')]).toEqual([429, 'quota_exceeded']);
});

test('a key for other models gets none', async () => {
  const key = await gateway.issueKey({ models: ['svc'] });
  const refused = await gateway.post(path, body, { 'x-api-key': key });
  expect([refused.status, refused.headers.get('x-svc-error')]).toEqual([403, 'model_not_allowed']);
});

test('of several upstreams, only those with an embeddings model are tried', async () => {
  await using second = await startFakeUpstream();
  await using two = await start({
    ...{ UPSTREAM_EMBEDDINGS_MODEL: '', UPSTREAM_2_BASE_URL: 'http://127.0.0.1:1/v1' },
    UPSTREAM_2_EMBEDDINGS_BASE_URL: second.url,
    UPSTREAM_2_API_KEYS: 'upstream-key-two',
    UPSTREAM_2_TEXT_MODEL: 'acmecorp/second',
    UPSTREAM_2_VISION_MODEL: 'acmecorp/second-eyes',
    UPSTREAM_2_EMBEDDINGS_MODEL: 'acmecorp/second-embed',
  });
  second.answer(json(200, answer));
  const { text, line } = await ask(two, [], body);
  expect(JSON.parse(text)).toMatchObject({ model: 'svc-embedding' });
  expect(line).toMatchObject({ upstream: 'UPSTREAM_2', tries: 1 });
  expect(JSON.parse(String(second.requests[0]?.body))).toEqual({ ...body, model: 'acmecorp/second-embed' });
  expect(two.gateway.upstream.requests).toEqual([]);
  second.answer(empty(503));
  const { response } = await ask(two, [], body);
  expect(response.status).toBe(503);
  // There was none to fail over to.
  expect(two.gateway.log.filter(({ message }) => message === 'upstream failed')).toEqual([]);
});

describe('an answer that breaks off', () => {
  const begun = [head(200, { 'content-type': 'application/json' }), write('{"data":[{"embedding":[0.5,')];

  /** It has started with status 200, but no client can take it for a complete one. */
  const expectBroken = (text: string, code: string) => {
    expect(() => JSON.parse(text)).toThrow();
    const [, last = ''] = /^(?:.|\n)*\n(\{"error".*\})$/.exec(text) ?? [];
    expect(JSON.parse(last)).toMatchObject({ error: { code } });
    expect(findIdentity(text)).toEqual([]);
  };

  test('is not valid JSON, and is refunded', async () => {
    for (const script of [[...begun, hangUp], begun, [...begun, write('1]}],"x":')]]) {
      const { response, text, line, charged } = await ask(watched, script);
      expect(response.status).toBe(200);
      expectBroken(text, 'upstream_error');
      expect(text).toMatch('This request was not charged');
      expect(charged).toBe(0);
      expect(line).toMatchObject({ end: 'failed', reason: 'cut', refunded: true });
    }
  });

  test('stays charged if it times out', async () => {
    gateway.upstream.answer([...begun, silence]);
    const before = await watched.remaining('guest');
    using timers = stopTimers();
    const reader = createStreamReader(await gateway.post(path, body, guest));
    await reader.until(/0\.5,/);
    timers.pass(870_000);
    const text = await reader.rest();
    timers[Symbol.dispose]();
    expectBroken(text, 'upstream_timeout');
    expect(before - (await watched.remaining('guest'))).toBe(1);
  });
});
