import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hangUp, head, raw, write } from '../../local/upstream/script.ts';
import { joinTexts, readComments, readEvents } from '../support/client-view.ts';
import { dialectNames, type Fixture, loadFixtures } from '../support/fixtures.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { findIdentity } from '../support/upstream-identity.ts';

/** What an upstream may reveal about itself outside its body. */
const loudHeaders = {
  server: 'AcmeCorp/Thunder',
  'set-cookie': 'acmecorp=thunder; Domain=api.acmecorp.example',
  'x-request-id': 'req_acmecorp_1',
  'request-id': 'req_acmecorp_1',
  'openai-organization': 'acmecorp',
  'openai-processing-ms': '12',
  'anthropic-organization-id': 'org-acmecorp-1',
  'x-acmecorp-region': 'acme-east-1',
  'x-svc-remaining': '9-by-AcmeCorp',
  via: '1.1 api.acmecorp.example',
  'cf-ray': 'thunder',
  'access-control-allow-origin': 'https://api.acmecorp.example',
};

const ownHeaders =
  /^(x-svc-(remaining|limit|reset|error)|x-request-id|request-id|x-should-retry|retry-after|content-type|cache-control|access-control-[\w-]+|vary|date|connection|keep-alive|transfer-encoding|content-length)$/;

const questions = {
  chat: { path: '/v1/chat/completions', body: { model: 'svc', messages: [{ role: 'user', content: 'Who are you?' }] } },
  responses: { path: '/v1/responses', body: { model: 'svc', input: 'Who are you?' } },
  messages: {
    path: '/v1/messages',
    body: { model: 'svc', max_tokens: 64, messages: [{ role: 'user', content: 'Who are you?' }] },
  },
};

describe('a client of an upstream that reveals itself', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { MEMBER_LIMIT: '100000', BURST_LIMIT: '600' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  /** Every test has its own key, so that no limit interferes. */
  async function ask(dialectName: keyof typeof questions, stream: boolean, path = questions[dialectName].path) {
    const key = await gateway.issueKey({ limit: 10 });
    const response = await gateway.post(path, { ...questions[dialectName].body, stream }, { 'x-api-key': key });
    return { response, text: await response.text() };
  }

  function expectNoNames({ response, text }: { response: Response; text: string }): void {
    expect(findIdentity(response.statusText)).toEqual([]);
    for (const [name, value] of response.headers) {
      expect(name).toMatch(ownHeaders);
      expect([name, findIdentity(`${name}: ${value}`)]).toEqual([name, []]);
    }
    expect(response.headers.get('x-svc-remaining')).toMatch(/^\d+$/);
    expect(findIdentity(text)).toEqual([]);
  }

  test.each([true, false])('that repeats its key, with stream: %s', async (stream) => {
    const said = stream ? ['by upstream-k', 'ey-one.'] : ['by upstream-key-one.'];
    const events = [...said.map((content) => ({ content })), {}].map((delta, at) => ({
      choices: [{ index: 0, [stream ? 'delta' : 'message']: delta, finish_reason: at < said.length ? null : 'stop' }],
    }));
    const wire = stream ? events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') : JSON.stringify(events[0]);
    const type = stream ? 'text/event-stream' : 'application/json';
    gateway.upstream.answer([head(200, { 'content-type': type }), write(wire)]);
    const { response, text } = await ask('chat', stream);
    expect(response.status).toBe(200);
    expect(text).not.toMatch(/upstream-k|ey-one/);
  });

  describe.each(dialectNames)('%s', (dialectName) => {
    const fixtures = loadFixtures(dialectName);
    const named = <Kind extends Fixture['kind']>(kind: Kind) =>
      fixtures.flatMap((fixture) =>
        fixture.kind === kind ? [[fixture.name, fixture as Extract<Fixture, { kind: Kind }>] as const] : [],
      );

    test.each(named('stream'))('the stream %s', async (_, { bytes, headers, terminal, plainError }) => {
      gateway.upstream.answer([head(200, { ...loudHeaders, ...headers }), write(bytes)]);
      const answered = await ask(dialectName, true);
      expectNoNames(answered);
      const { response, text } = answered;
      if (plainError) {
        expect(response.status).toBe(502);
        expect(response.headers.get('x-svc-error')).toBe('upstream_error');
        expect(JSON.parse(text)).toHaveProperty('error.message', expect.any(String));
        return;
      }
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const events = readEvents(text);
      for (const joined of joinTexts(events.map(({ value }) => value)).values())
        expect(findIdentity(joined)).toEqual([]);
      for (const comment of readComments(text)) expect(comment).toBe(': keep-alive');
      const isError = /"error":\{|"type":"response.failed"/.test(events.at(-1)?.data ?? '');
      expect(isError).toBe(terminal !== 'end');
    });

    test.each(named('answer'))('the answer %s', async (name, { bytes, headers, terminal }) => {
      gateway.upstream.answer([head(200, { ...loudHeaders, ...headers }), write(bytes)]);
      const path = name === 'count-tokens' ? '/v1/messages/count_tokens' : undefined;
      const answered = await ask(dialectName, false, path);
      expectNoNames(answered);
      expect(answered.response.status).toBe(terminal === 'failure' ? 502 : 200);
    });

    test.each(named('error'))('the error %s', async (name, { bytes, headers, status }) => {
      const path = name.endsWith('-path') ? '/v1/messages/count_tokens' : undefined;
      for (const stream of [false, true]) {
        gateway.upstream.answer([head(status, { ...loudHeaders, ...headers }), write(bytes)]);
        const answered = await ask(dialectName, stream, path);
        expectNoNames(answered);
        expect(answered.response.status).toBeGreaterThanOrEqual(400);
        expect(JSON.parse(answered.text)).toHaveProperty('error.message', expect.stringMatching(/./));
        expect(answered.response.headers.get('x-svc-error')).toMatch(/^\w+$/);
      }
    });

    test('a status line, a head without a body, a lost connection', async () => {
      const loudHead = 'HTTP/1.1 500 AcmeCorp Thunder is down\r\nserver: AcmeCorp\r\n';
      for (const rest of ['content-length: 0\r\n\r\n', 'x-acmecorp: ']) {
        gateway.upstream.answer([raw(loudHead + rest), hangUp]);
        const answered = await ask(dialectName, false);
        expectNoNames(answered);
        expect(answered.response.status).toBeGreaterThanOrEqual(500);
      }
    });
  });

  test('the gateway itself stood', () => {
    expect(gateway.faults).toEqual([]);
  });
});
