import { afterAll, describe, expect, test } from '@jest/globals';
import { hangUp, head, json, raw, write } from '../../local/upstream/script.ts';
import { dialectNames, loadFixtures } from '../support/fixtures.ts';
import { testRows } from '../support/test-rows.ts';
import { findIdentity } from '../support/upstream-identity.ts';
import { startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

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

/** Everything that the client sees is either the gateway's own or hidden. */
function expectNoNames(file: string, status: string, headers: Headers, text: string): void {
  for (const [name, value] of headers) {
    expect([file, name]).toEqual([file, expect.stringMatching(ownHeaders)]);
    expect([file, findIdentity(`${status} ${name}: ${value}`)]).toEqual([file, []]);
  }
  expect([file, headers.get('x-svc-remaining')]).toEqual([file, expect.stringMatching(/^\d+$/)]);
  expect([file, findIdentity(text)]).toEqual([file, []]);
}

const watched = await startWatchedGateway();
const { gateway } = watched;
afterAll(() => watched[Symbol.asyncDispose]());

testRows([true, false])('an upstream that echoes its key', async (stream) => {
  const said = stream ? ['by upstream-k', 'ey-one.'] : ['by upstream-key-one.'];
  const events = [...said.map((content) => ({ content })), {}].map((delta, at) => ({
    choices: [{ index: 0, [stream ? 'delta' : 'message']: delta, finish_reason: at < said.length ? null : 'stop' }],
  }));
  const wire = stream ? events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') : JSON.stringify(events[0]);
  const type = stream ? 'text/event-stream' : 'application/json';
  gateway.upstream.answer([head(200, { 'content-type': type }), write(wire)]);
  const { status, text } = await watched.ask('chat', { stream });
  expect(status).toBe(200);
  expect(text).not.toMatch(/upstream-k|ey-one/);
});

test('without names from the operator, the parts that identify the model ids are hidden, from the first answer on', async () => {
  const environment = { UPSTREAM_NAMES: '', UPSTREAM_TEXT_MODEL: 'acmecorp/thunder-70b-instruct' };
  await using unnamed = await startWatchedGateway({ environment });
  const message = { role: 'assistant', content: 'I am Thunder of AcmeCorp.' };
  unnamed.gateway.upstream.answer(json(200, { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  const { text } = await unnamed.ask('chat');
  expect(JSON.parse(text).choices[0].message.content).toBe('I am svc of svc.');
});

test('HIDE_IN_TEXT=none leaves only generated text unchanged', async () => {
  await using open = await startWatchedGateway({ environment: { HIDE_IN_TEXT: 'none' } });
  const code = 'from thunder import AcmeCorp';
  const replace = (text: string) => text.replaceAll(canary.answer, code);
  for (const dialect of dialectNames) {
    const { events, answer } = wire[dialect];
    for (const [stream, body] of [
      [true, replace(events.join(''))] as const,
      [false, replace(JSON.stringify(answer))] as const,
    ]) {
      const type = stream ? 'text/event-stream' : 'application/json';
      open.gateway.upstream.answer([head(200, { ...loudHeaders, 'content-type': type }), write(body)]);
      const { headers, text } = await open.ask(dialect, { stream });
      expect(text).toContain(code);
      expectNoNames(type, '', headers, text.replaceAll(code, ''));
    }
    open.gateway.upstream.answer([
      head(400, { 'content-type': 'application/json' }),
      write(JSON.stringify({ error: { message: code } })),
    ]);
    expect(findIdentity((await open.ask(dialect)).text)).toEqual([]);
  }
});

testRows([true, false])('HIDE_IN_TEXT=none leaves translated text and reasoning unchanged, too', async (stream) => {
  await using open = await startWatchedGateway({ environment: { HIDE_IN_TEXT: 'none', UPSTREAM_DIALECTS: 'chat' } });
  const [reasoningBlock, code] = ['AcmeCorp it is.', 'from thunder import AcmeCorp'];
  const said = { role: 'assistant', reasoning_content: reasoningBlock, content: code };
  const choice = { index: 0, [stream ? 'delta' : 'message']: said, finish_reason: 'stop' };
  const sent = JSON.stringify({ id: 'acmecorp-1', model: 'thunder', provider: 'AcmeCorp', choices: [choice] });
  const type = stream ? 'text/event-stream' : 'application/json';
  for (const dialect of ['responses', 'messages'] as const) {
    const wire = stream ? `data: ${sent}\n\ndata: [DONE]\n\n` : sent;
    open.gateway.upstream.answer([head(200, { ...loudHeaders, 'content-type': type }), write(wire)]);
    const { headers, text } = await open.ask(dialect, { stream });
    expect(text).toContain(reasoningBlock);
    expect(text).toContain(code);
    expectNoNames(type, '', headers, text.replaceAll(code, '').replaceAll(reasoningBlock, ''));
  }
});

describe.each(dialectNames)('an upstream of %s that reveals itself in', (dialect) => {
  const send = async (stream: boolean, path = wire[dialect].path) => {
    const question = { ...wire[dialect].question, stream };
    const response = await gateway.post(path, question, { 'x-api-key': canary.clientKey });
    return { response, text: await response.text() };
  };

  testRows([true, false])('an answer', async (stream) => {
    const { events, answer } = wire[dialect];
    const type = stream ? 'text/event-stream' : 'application/json';
    const body = stream ? events.join('') : JSON.stringify(answer);
    gateway.upstream.answer([head(200, { ...loudHeaders, 'content-type': type }), write(body)]);
    const { response, text } = await send(stream);
    expect(response.status).toBe(200);
    expectNoNames(type, response.statusText, response.headers, text);
  });

  test('every error', async () => {
    for (const fixture of loadFixtures(dialect)) {
      if (fixture.kind !== 'error') continue;
      const { file, name, status } = fixture;
      const path = name.endsWith('-path') ? '/v1/messages/count_tokens' : undefined;
      gateway.upstream.answer([head(status, { ...loudHeaders, ...fixture.headers }), write(fixture.bytes)]);
      const { response, text } = await send(true, path);
      expectNoNames(file, response.statusText, response.headers, text);
      expect([file, response.status >= 400]).toEqual([file, true]);
      expect(JSON.parse(text)).toHaveProperty('error.message', expect.stringMatching(/./));
      expect([file, response.headers.get('x-svc-error')]).toEqual([file, expect.stringMatching(/^\w+$/)]);
    }
  });

  test('a status line, a head without a body, a lost connection', async () => {
    const loudHead = 'HTTP/1.1 500 AcmeCorp Thunder is down\r\nserver: AcmeCorp\r\n';
    for (const rest of ['content-length: 0\r\n\r\n', 'x-acmecorp: ']) {
      gateway.upstream.answer([raw(loudHead + rest), hangUp]);
      const { response, text } = await send(false);
      expectNoNames(rest, response.statusText, response.headers, text);
      expect(response.status).toBeGreaterThanOrEqual(500);
    }
  });
});
