import { describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const path = '/v1/chat/completions';
const plain = json(200, { id: 'x', choices: [] });
const bodyOf = ({ upstream }: TestGateway) => JSON.parse(String(upstream.requests.at(-1)?.body));

describe('UPSTREAM_CALLER_IDS', () => {
  const question = { model: 'svc', messages: [], user: 'me@home', prompt_cache_key: 'thread-1' };
  const send = (gateway: TestGateway, key = 'guest') => gateway.post(path, question, { 'x-api-key': key });

  test('hash: they tell one caller’s from another’s, and nothing else', async () => {
    await using gateway = await startTestGateway({ environment: { UPSTREAM_CALLER_IDS: 'hash' } });
    gateway.upstream.otherwise(plain);
    await send(gateway);
    const guest = bodyOf(gateway);
    expect(JSON.stringify(guest)).not.toMatch(/me@home|thread-1/);
    await send(gateway);
    expect(bodyOf(gateway)).toEqual(guest);
    await send(gateway, await gateway.issueKey());
    expect(bodyOf(gateway).user).toMatch(/^[\w-]{43}$/);
    expect(bodyOf(gateway).user).not.toBe(guest.user);
  });
});

describe('UPSTREAM_HEADERS', () => {
  const secret = (value: unknown) => ({
    environment: {
      UPSTREAM_API_KEYS: '',
      UPSTREAM_SECRET_ID: 'keys',
      UPSTREAM_HEADERS: '{"x-team":"a","x-place":"b"}',
    },
    readSecret: async () => JSON.stringify({ UPSTREAM_API_KEYS: 'upstream-key', UPSTREAM_HEADERS: value }),
  });
  const ask = (gateway: TestGateway) => gateway.post(path, { model: 'svc', messages: [] }, { 'x-api-key': 'guest' });

  testRows([
    ['an object', { 'X-Place': 'secret-workspace' }, 'secret-workspace'],
    ['its text', '{"X-Place":"secret-workspace"}', 'secret-workspace'],
    ['none', {}, 'b'],
  ])('are joined by those of the secret, which win', async (_, value, place) => {
    await using gateway = await startTestGateway(secret(value));
    gateway.upstream.otherwise(plain);
    expect((await ask(gateway)).status).toBe(200);
    expect(gateway.upstream.requests.at(-1)?.headers).toMatchObject({ 'x-team': 'a', 'x-place': place });
  });

  test('a secret one is not told when the upstream repeats it', async () => {
    await using gateway = await startTestGateway(secret({ 'x-place': 'secret-workspace' }));
    gateway.upstream.otherwise(json(400, { error: { message: 'secret-workspace is unknown' } }));
    expect(await (await ask(gateway)).text()).not.toContain('secret-workspace');
  });

  testRows([
    ['of the connection', { host: 'elsewhere' }],
    ['as null', null],
  ])('invalid headers are a fault of the gateway’s own, and nothing goes upstream', async (_, value) => {
    await using gateway = await startTestGateway(secret(value));
    const response = await ask(gateway);
    expect([response.status, response.headers.get('x-svc-error')]).toEqual([503, 'service_unavailable']);
    expect(gateway.upstream.requests).toEqual([]);
  });
});
