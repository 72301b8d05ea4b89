import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const guest = { 'x-api-key': 'guest' };

describe('what the gateway refuses', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
    gateway.upstream.otherwise(json(200, { id: 'x', choices: [] }));
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const codeOf = (response: Response) => [response.status, response.headers.get('x-svc-error')];

  test('an unknown key: unconfigured while no key was ever issued, then invalid', async () => {
    const unknown = { authorization: 'bearer ltk_unknown' };
    const first = await gateway.post('/v1/chat/completions', question, unknown);
    expect(codeOf(first)).toEqual([503, 'unconfigured']);
    await gateway.issueKey();
    const second = await gateway.post('/v1/chat/completions', question, unknown);
    expect(codeOf(second)).toEqual([401, 'invalid_api_key']);
    expect(await second.text()).not.toMatch('ltk_unknown');
  });

  test('unknown paths and wrong methods, with figures and without a key', async () => {
    const missing = await gateway.post('/v1/nowhere', question);
    expect([...codeOf(missing), missing.headers.get('x-svc-limit')]).toEqual([404, 'not_found', '1000']);
    const wrong = await fetch(`${gateway.url}/v1/messages`);
    expect([...codeOf(wrong), wrong.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST, OPTIONS']);
    const head = await fetch(`${gateway.url}/v1/models`, { method: 'HEAD' });
    expect([...codeOf(head), await head.text()]).toEqual([405, 'method_not_allowed', '']);
  });

  test('a body over the limit, before it asks for a key; one at the limit is read', async () => {
    const limit = 6_291_456;
    const head = '{"model":"svc","messages":[],"x":"';
    const sized = (size: number) => {
      const text = `${head}${'é'.repeat(1_000_000)}"}`;
      return text + ' '.repeat(size - Buffer.byteLength(text));
    };
    expect(codeOf(await gateway.post('/v1/messages', sized(limit + 1)))).toEqual([413, 'request_too_large']);
    expect(codeOf(await gateway.post('/v1/messages', sized(limit), guest))).toEqual([200, null]);
  });

  test('a preflight is answered without a key, for any header', async () => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key, x-stainless-os',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toBe('x-api-key, x-stainless-os');
    expect(response.headers.get('access-control-expose-headers')?.toLowerCase()).toMatch('x-svc-remaining');
  });

  testRows([
    ['', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models.'],
    ['svc/', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models/svc.'],
    ['gpt-5/', "There is no model with this name: 'gpt-5/'. The models are svc and svc-vision."],
    ['gpt-5', "There is no model with this name: 'gpt-5'. The models are svc and svc-vision."],
    ['acmecorp%2Fthunder-70b-instruct', 'There is no model with this name. The models are svc and svc-vision.'],
    ['sk-1234', 'There is no model with this name. The models are svc and svc-vision.'],
  ])('an unknown model, in a path', async (id, message) => {
    const response = await fetch(`${gateway.url}/v1/models/${id}`, { headers: guest });
    expect(codeOf(response)).toEqual([404, 'model_not_found']);
    expect(await response.json()).toMatchObject({ error: { message } });
  });

  test('every answer has an id of its own', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const { headers } = await gateway.post('/v1/nowhere', {});
        expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
        return headers.get('x-request-id');
      }),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

test('no page may send credentials: behind a proxy with cookies, it could spend other people’s quota', async () => {
  const origin = 'https://app.example';
  for (const CORS_ORIGINS of ['*', origin]) {
    await using gateway = await startTestGateway({ environment: { CORS_ORIGINS } });
    for (const method of ['OPTIONS', 'POST']) {
      const asked = { origin, ...(method === 'OPTIONS' && { 'access-control-request-method': 'POST' }) };
      const { headers } = await fetch(`${gateway.url}/v1/messages`, { method, headers: asked });
      expect(headers.get('access-control-allow-origin')).toBe(CORS_ORIGINS);
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    }
  }
});
