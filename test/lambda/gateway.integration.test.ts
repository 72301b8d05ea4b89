import { afterAll, describe, expect, test } from '@jest/globals';
import { networkId, networkOf } from '../../lambda/identity/network.ts';
import { keyOf } from '../../lambda/settings/secrets.ts';
import { json, sse } from '../../local/upstream/script.ts';
import { identity, settingsWith, startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const guest = { 'x-api-key': 'guest' };
const codeOf = (response: Response) => [response.status, response.headers.get('x-svc-error')];

const gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
afterAll(() => gateway[Symbol.asyncDispose]());

test('interprets an answer by its request: the number of choices, and the stop sequences', async () => {
  const model = identity.UPSTREAM_TEXT_MODEL;
  const finished = { id: 'x', model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  gateway.upstream.answer(sse([{ data: JSON.stringify(finished) }]));
  const two = await gateway.post('/v1/chat/completions', { ...question, stream: true, n: 2 }, guest);
  expect(await two.text()).toMatch(/"error":\{"message":"The answer broke off/);
  const stop = { stop_reason: 'stop_sequence', stop_sequence: 'AcmeCorp:' };
  const answer = { type: 'message', model, content: [{ type: 'text', text: 'AcmeCorp' }], ...stop };
  const body = { ...question, max_tokens: 9, stop_sequences: ['AcmeCorp:'] };
  gateway.upstream.answer(json(200, answer));
  expect(await (await gateway.post('/v1/messages', body, guest)).json()).toMatchObject({
    ...{ content: [{ text: 'svc' }], stop_sequence: 'AcmeCorp:' },
  });
});

test('lists its models without charging', async () => {
  const read = async () => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: guest });
    return [response.headers.get('x-svc-remaining'), await response.json()];
  };
  const [first, list] = await read();
  expect(list).toEqual({
    object: 'list',
    data: ['svc', 'svc-vision'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'svc' })),
  });
  expect((await read())[0]).toBe(first);
});

testRows([
  ['', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models.'],
  ['svc/', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models/svc.'],
  ['gpt-5', "There is no model with this name: 'gpt-5'. The models are svc and svc-vision."],
  ['acmecorp%2Fthunder-70b-instruct', 'There is no model with this name. The models are svc and svc-vision.'],
])('knows no other model, and says so without the name of a hidden one', async (id, message) => {
  const response = await fetch(`${gateway.url}/v1/models/${id}`, { headers: guest });
  expect(codeOf(response)).toEqual([404, 'model_not_found']);
  expect(await response.json()).toMatchObject({ error: { message } });
});

test('refuses unknown paths and wrong methods with figures, an id of its own each, and without a key', async () => {
  const missing = await gateway.post('/v1/nowhere', question);
  expect([...codeOf(missing), missing.headers.get('x-svc-limit')]).toEqual([404, 'not_found', '1000']);
  const head = await fetch(`${gateway.url}/v1/models`, { method: 'HEAD' });
  expect([...codeOf(head), await head.text()]).toEqual([405, 'method_not_allowed', '']);
  const ids = [missing, head].map(({ headers }) => headers.get('x-request-id'));
  expect([missing, head].map(({ headers }) => headers.get('request-id'))).toEqual(ids);
  expect(new Set(ids).size).toBe(2);
});

describe('pages of other origins', () => {
  const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };
  const answers: [path: string, init: RequestInit, status: number][] = [
    ['/v1/chat/completions', preflight, 204],
    ['/v1/models', { headers: guest }, 200],
    ['/v1/models', {}, 401],
    ['/nowhere', {}, 404],
  ];

  // With credentials a page could spend the quota of whoever is signed in to a proxy in front.
  testRows([
    ['*', ['*', '*', '*', '*'], null],
    ['https://one.example,https://two.example', ['https://one.example', 'https://two.example', null, null], 'origin'],
  ])('are allowed as CORS_ORIGINS says, never with credentials, and caches are told', async (listed, allowed, vary) => {
    await using gateway = await startTestGateway({ environment: { CORS_ORIGINS: listed } });
    const origins = ['https://one.example', 'https://two.example', 'https://three.example', undefined];
    for (const [path, { method = 'GET', headers = {} }, status] of answers) {
      for (const [index, origin] of origins.entries()) {
        const sent = { ...(headers as Record<string, string>), ...(origin && { origin }) };
        const answer = await fetch(gateway.url + path, { method, headers: sent });
        const read = ['access-control-allow-origin', 'vary', 'access-control-allow-credentials'];
        expect([answer.status, ...read.map((name) => answer.headers.get(name))]).toEqual([
          ...[status, allowed[index], vary, null],
        ]);
      }
    }
  });

  test('may send any header and read the figures, as a preflight without a key says', async () => {
    await using gateway = await startTestGateway();
    const headers = { ...preflight.headers, 'access-control-request-headers': 'x-api-key, x-stainless-os' };
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: 'OPTIONS', headers });
    expect(answer.headers.get('access-control-allow-headers')).toBe('x-api-key, x-stainless-os');
    expect(answer.headers.get('access-control-expose-headers')?.toLowerCase()).toMatch('x-svc-remaining');
  });
});

test('with ACCESS=keys a placeholder is refused, whatever GUEST_LIMIT says and though its network is linked', async () => {
  const environment = { ACCESS: 'keys', GUEST_LIMIT: '5', APP_URL: 'https://app.example' };
  await using gateway = await startTestGateway({ environment });
  const salt = keyOf(settingsWith(gateway.upstream, gateway.dynamoDb).NETWORK_SALT);
  const link = { member: 'member', linkedAt: Date.now(), expiresAt: Date.now() + 3_600_000 };
  await gateway.keys.link(networkId(networkOf('127.0.0.1') ?? '', salt), link);
  for (const path of ['chat/completions', 'responses', 'messages', 'messages/count_tokens']) {
    const refused = await gateway.post(`/v1/${path}`, question, guest);
    const figures = ['x-svc-limit', 'x-svc-remaining'].map((name) => refused.headers.get(name));
    expect([...codeOf(refused), ...figures]).toEqual([401, 'invalid_api_key', '0', '0']);
  }
  gateway.upstream.answer(json(200, { choices: [] }));
  const headers = { 'x-api-key': await gateway.issueKey() };
  expect((await gateway.post('/v1/chat/completions', question, headers)).status).toBe(200);
});
