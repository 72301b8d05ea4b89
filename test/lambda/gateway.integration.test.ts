import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { cloudFrontHeader, originSecretHeader } from '../../lambda/identity/network.ts';
import { json } from '../../local/upstream/script.ts';
import { identity, startTestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const guest = { 'x-api-key': 'guest' };
const codeOf = ({ status, headers }: Response) => [status, headers.get('x-svc-error')];
const remaining = ({ headers }: Response) => Number(headers.get('x-svc-remaining'));

const gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
afterAll(() => gateway[Symbol.asyncDispose]());

test('the text at which the caller asked to stop comes back as it was asked for', async () => {
  const model = identity.UPSTREAM_TEXT_MODEL;
  const stop = { stop_reason: 'stop_sequence', stop_sequence: 'AcmeCorp:' };
  const answer = { type: 'message', model, content: [{ type: 'text', text: 'AcmeCorp' }], ...stop };
  const body = { ...question, max_tokens: 9, stop_sequences: ['AcmeCorp:'] };
  gateway.upstream.answer(json(200, answer));
  expect(await (await gateway.post('/v1/messages', body, guest)).json()).toMatchObject({
    ...{ content: [{ text: 'svc' }], stop_sequence: 'AcmeCorp:' },
  });
});

test('lists its models without charging', async () => {
  const lists = [1, 2].map(() => fetch(`${gateway.url}/v1/models`, { headers: guest }));
  const [first, second] = (await Promise.all(lists)) as [Response, Response];
  expect(await first.json()).toEqual({
    object: 'list',
    data: ['svc', 'svc-vision'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'svc' })),
  });
  expect(remaining(second)).toBe(remaining(first));
});

test("describes its models in Anthropic's format to clients that send anthropic-version", async () => {
  const read = async (path: string) => {
    const response = await fetch(`${gateway.url}/v1/models${path}`, {
      headers: { ...guest, 'anthropic-version': '2023-06-01' },
    });
    return response.json();
  };
  const described = (id: string) => ({
    ...{ id, object: 'model', created: 0, owned_by: 'svc' },
    ...{ type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' },
  });
  expect(await read('?limit=1000')).toEqual({
    object: 'list',
    data: [described('svc'), described('svc-vision')],
    ...{ has_more: false, first_id: 'svc', last_id: 'svc-vision' },
  });
  expect(await read('/svc-vision')).toEqual(described('svc-vision'));
});

testRows([
  ['', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models.'],
  ['svc/', 'There is no model with this name: the path has a slash too many at its end. Use /v1/models/svc.'],
  ['gpt-5', "There is no model with this name: 'gpt-5'. The models are svc and svc-vision."],
  ['sk-1234', 'There is no model with this name. The models are svc and svc-vision.'],
])('has no other model, and names them', async (id, message) => {
  const response = await fetch(`${gateway.url}/v1/models/${id}`, { headers: guest });
  expect(codeOf(response)).toEqual([404, 'model_not_found']);
  expect(await response.json()).toMatchObject({ error: { message } });
});

test('rejects unknown paths and wrong methods with quota headers and a request id, and without a key', async () => {
  const missing = await gateway.post('/v1/nowhere', question);
  expect([...codeOf(missing), missing.headers.get('x-svc-limit')]).toEqual([404, 'not_found', '1000']);
  const head = await fetch(`${gateway.url}/v1/models`, { method: 'HEAD' });
  expect([...codeOf(head), await head.text()]).toEqual([405, 'method_not_allowed', '']);
  const ids = [missing, head].map(({ headers }) => headers.get('x-request-id'));
  expect([missing, head].map(({ headers }) => headers.get('request-id'))).toEqual(ids);
  expect(new Set(ids).size).toBe(2);
});

describe('pages of other origins', () => {
  const origins = ['https://one.example', 'https://two.example', 'https://three.example', undefined];
  const asks = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key, x-stainless-os',
  };

  // With credentials, a page could spend the quota of whoever is signed in to a proxy in front.
  testRows([
    ['*', ['*', '*', '*', '*'], null],
    ['https://one.example,https://two.example', ['https://one.example', 'https://two.example', null, null], 'origin'],
  ])('are allowed by CORS_ORIGINS, never with credentials, and caches vary by it', async (listed, allowed, vary) => {
    await using gateway = await startTestGateway({ environment: { CORS_ORIGINS: listed } });
    for (const [path, method, headers, status] of [
      ['/v1/chat/completions', 'OPTIONS', asks, 204],
      ['/v1/models', 'GET', guest, 200],
      ['/v1/models', 'GET', {}, 401],
      ['/nowhere', 'GET', {}, 404],
    ] as const) {
      for (const [index, origin] of origins.entries()) {
        const answer = await fetch(gateway.url + path, { method, headers: { ...headers, ...(origin && { origin }) } });
        const read = ['access-control-allow-origin', 'vary', 'access-control-allow-credentials'];
        expect([answer.status, ...read.map((name) => answer.headers.get(name))]).toEqual([
          ...[status, allowed[index], vary, null],
        ]);
      }
    }
  });

  test('may send any header and read the quota headers, as a preflight without a key says', async () => {
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: 'OPTIONS', headers: asks });
    expect(answer.headers.get('access-control-allow-headers')).toBe('x-api-key, x-stainless-os');
    expect(answer.headers.get('access-control-expose-headers')?.toLowerCase()).toMatch('x-svc-remaining');
  });
});

test('with ACCESS=keys a placeholder is refused, whatever GUEST_LIMIT says', async () => {
  await using gateway = await startTestGateway({ environment: { ACCESS: 'keys', GUEST_LIMIT: '5' } });
  const refused = await gateway.post('/v1/messages', question, guest);
  const figures = ['x-svc-limit', 'x-svc-remaining'].map((name) => refused.headers.get(name));
  expect([...codeOf(refused), ...figures]).toEqual([401, 'invalid_api_key', '0', '0']);
  gateway.upstream.answer(json(200, { choices: [] }));
  const headers = { 'x-api-key': await gateway.issueKey() };
  expect((await gateway.post('/v1/chat/completions', question, headers)).status).toBe(200);
});

const company = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'gateway', OIDC_ALLOW_ALL: 'true' };
testRows<[environment: Record<string, string>, said: string]>([
  [{}, 'link a wallet or get a key at https://app.example/cli.'],
  [{ WALLET_SIGN_IN: 'false' }, 'use a key, which the operator makes by `npm run keys -- issue`.'],
  [{ WALLET_SIGN_IN: 'false', ...company }, 'For more, get a key at https://app.example/cli.'],
  [{ ACCESS: 'keys' }, 'Ask the operator for a key, who makes one by `npm run keys -- issue`.'],
  [{ ACCESS: 'keys', ...company }, 'Get a key at https://app.example/cli.'],
])('a refusal lists the available ways to get a key', async (environment, said) => {
  await using gateway = await startTestGateway({
    environment: { APP_URL: 'https://app.example', GUEST_LIMIT: '1', ...environment },
  });
  const ask = () => gateway.post('/v1/chat/completions', {}, guest);
  await ask();
  expect(await (await ask()).text()).toContain(said);
});

test('a browser at a path where there is nothing gets a page; a program, and a browser at an endpoint, gets JSON', async () => {
  const ask = async (path: string, accept: string) => {
    const response = await fetch(gateway.url + path, { headers: { accept } });
    const [status, code] = codeOf(response);
    return [status, code, response.headers.get('content-type'), (await response.text()).slice(0, 9)];
  };
  const browser = 'text/html,*/*';
  expect(await ask('/v1', browser)).toEqual([404, 'not_found', 'text/html; charset=utf-8', '<!doctype']);
  expect(await ask('/v1', '*/*')).toEqual([404, 'not_found', 'application/json', '{"error":']);
  expect(await ask('/v1/messages', browser)).toEqual([405, 'method_not_allowed', 'application/json', '{"type":"']);
  expect(gateway.log.at(-3)).toMatchObject({ route: 'unknown', status: 404, code: 'not_found' });
});

test('the line of a 404 of the upstream says what to do, and no other line does', async () => {
  const key = await gateway.issueKey();
  for (const status of [404, 500]) {
    gateway.upstream.answer(json(status, {}));
    await (await gateway.post('/v1/messages', question, { 'x-api-key': key })).text();
  }
  const [missing, failing] = gateway.log.slice(-2);
  expect(missing).toMatchObject({
    reason: 'missing',
    hint: expect.stringMatching(/leave messages out of UPSTREAM_DIALECTS$/),
  });
  expect(failing).not.toHaveProperty('hint');
});

test('a body’s size is checked before its encoding, and that before a missing key', async () => {
  const refuse = async (size: number) => {
    const headers = { 'content-encoding': 'compress' };
    const sent = { method: 'POST', body: Buffer.alloc(size), headers };
    const response = await fetch(`${gateway.url}/v1/messages`, sent);
    if (response.status === 413) expect(await response.text()).toContain('may have at most 6 MiB. Send less.');
    return codeOf(response);
  };
  expect(await refuse(6_291_457)).toEqual([413, 'request_too_large']);
  expect(await refuse(1)).toEqual([415, 'unsupported_encoding']);
});

describe('a compressed body', () => {
  const send = (encoding: string, body: Uint8Array<ArrayBuffer>, { url } = gateway) =>
    fetch(`${url}/v1/chat/completions`, { method: 'POST', body, headers: { ...guest, 'content-encoding': encoding } });
  const text = JSON.stringify({ ...question, messages: [{ role: 'user', content: 'hé' }] });

  test('is decoded for the upstream, and is a charged 400 if it is truncated or empty', async () => {
    gateway.upstream.answer(json(200, { choices: [] }));
    const good = await send('gzip', gzipSync(text));
    const sent = gateway.upstream.requests.at(-1);
    const resolved = text.replace('"svc"', `"${identity.UPSTREAM_TEXT_MODEL}"`);
    expect([good.status, sent?.body.toString()]).toEqual([200, resolved]);
    expect(sent?.headers['content-encoding']).toBeUndefined();
    const broken = await send('gzip', gzipSync(text).subarray(0, -3));
    expect([...codeOf(broken), remaining(broken)]).toEqual([400, 'invalid_request', remaining(good) - 1]);
    expect(await broken.text()).toContain('as gzip: it breaks off');
    expect(await (await send('gzip', new Uint8Array())).text()).toContain('The body is empty');
  });

  test('must not exceed REQUEST_BODY_LIMIT, compressed or decoded; neither is charged', async () => {
    await using narrow = await startTestGateway({ environment: { REQUEST_BODY_LIMIT: '1' } });
    narrow.upstream.otherwise(json(200, { choices: [] }));
    const limit = 1_048_576;
    for (const [size, status] of [
      [limit - 1, 200], // one more byte in UTF-8
      [limit, 413],
    ] as const) {
      const body = Buffer.from(text.padEnd(size));
      expect((await send('identity', body, narrow)).status).toBe(status);
      expect((await send('gzip', gzipSync(body), narrow)).status).toBe(status);
    }
  });
});

describe('behind the edge', () => {
  /** A gateway behind CloudFront. A test may replace its secret. */
  async function startBehindEdge() {
    const versions = { current: 'one', previous: '' };
    const clock = { now: Date.UTC(2026, 5, 15) };
    const gateway = await startTestGateway({
      environment: { EDGE_HEADER: cloudFrontHeader, EDGE_SECRET_ID: 'edge-secret' },
      now: () => clock.now,
      readSecret: async (_id: string, version: 'previous' | 'current' = 'current') => versions[version],
    });
    gateway.upstream.otherwise(json(200, { choices: [] }));
    const ask = (address: string, headers: Record<string, string> = { [originSecretHeader]: 'one' }) =>
      gateway.post('/v1/chat/completions', question, { ...guest, [cloudFrontHeader]: address, ...headers });
    return { ...gateway, versions, clock, ask };
  }

  test('each viewer has its own network, by the address that the edge reports', async () => {
    await using edge = await startBehindEdge();
    const answers = await Promise.all(['203.0.113.7:1', '203.0.113.8:1'].map((address) => edge.ask(address)));
    expect([...answers, await edge.ask('203.0.113.7:2')].map(remaining)).toEqual([2, 2, 1]);
    expect(edge.upstream.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain(originSecretHeader);
  });

  testRows([{}, { [originSecretHeader]: 'two' }])('requests that bypass it get a 404', async (headers) => {
    await using edge = await startBehindEdge();
    const refused = await edge.ask('203.0.113.7:1', headers);
    expect([...codeOf(refused), await refused.text()]).toEqual([404, 'not_found', expect.not.stringMatching(/edge/i)]);
    const preflight = { ...headers, 'access-control-request-method': 'POST' };
    expect((await fetch(`${edge.url}/v1/messages`, { method: 'OPTIONS', headers: preflight })).status).toBe(404);
    expect(edge.upstream.requests).toEqual([]);
    expect(edge.log).toMatchObject(Array(2).fill({ code: 'not_found', reason: 'around_edge' }));
  });

  test('a new secret is accepted beside the previous one within a minute', async () => {
    await using edge = await startBehindEdge();
    const statuses = async (current: string, previous: string) => {
      Object.assign(edge.versions, { current, previous });
      edge.clock.now += 60_000;
      const asked = ['one', 'two'].map((secret, place) =>
        edge.ask(`203.0.113.${place}:1`, { [originSecretHeader]: secret }),
      );
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await statuses('one', '')).toEqual([200, 404]);
    expect(await statuses('two', 'one')).toEqual([200, 200]);
    expect(await statuses('three', 'two')).toEqual([404, 200]);
  });
});
