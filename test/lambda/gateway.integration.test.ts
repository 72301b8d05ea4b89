import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { html, json, sse } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const model = 'acmecorp/thunder-70b-instruct';
const completion = {
  id: 'chatcmpl-acmecorp-1',
  object: 'chat.completion',
  created: 1,
  model,
  provider: 'AcmeCorp',
  system_fingerprint: 'fp_acmecorp',
  choices: [{ index: 0, message: { role: 'assistant', content: 'I am Thunder by AcmeCorp.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
};
const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const guest = { authorization: 'Bearer anything' };

describe('the gateway', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  beforeEach(() => gateway.upstream.otherwise(json(200, completion)));

  test('answers a chat completion and hides who answered', async () => {
    const response = await gateway.post('/v1/chat/completions', question, guest);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([
      200,
      { id: 'chatcmpl-svc-1', model: 'svc', choices: [{ message: { content: 'I am svc by svc.' } }] },
    ]);
    expect(text).not.toMatch(/acme|thunder|provider|fingerprint/i);
    expect(response.headers.get('x-svc-limit')).toBe('1000');
    expect(Number(response.headers.get('x-svc-remaining'))).toBeLessThan(1000);
    expect(gateway.upstream.requests.at(-1)?.body.toString()).toBe(
      JSON.stringify(question).replace('"svc"', JSON.stringify(model)),
    );
  });

  test('streams', async () => {
    gateway.upstream.answer(
      sse([
        { data: JSON.stringify({ id: 'x', model, choices: [{ index: 0, delta: { content: 'I am Thu' } }] }) },
        { data: JSON.stringify({ id: 'x', model, choices: [{ index: 0, delta: { content: 'nder.' } }] }) },
        { data: JSON.stringify({ id: 'x', model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) },
        { data: '[DONE]' },
      ]),
    );
    const response = await gateway.post('/v1/chat/completions', { ...question, stream: true }, guest);
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    const text = await response.text();
    expect(text).not.toMatch(/thunder/i);
    const spoken = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('');
    expect(spoken).toBe('I am svc.');
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });

  test('interprets an answer by its request: the number of choices, and the stop sequences', async () => {
    const finished = { id: 'x', model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    gateway.upstream.answer(sse([{ data: JSON.stringify(finished) }]));
    const two = await gateway.post('/v1/chat/completions', { ...question, stream: true, n: 2 }, guest);
    expect(await two.text()).toMatch(/"error":\{"message":"The answer broke off/);
    const stop = { stop_reason: 'stop_sequence', stop_sequence: 'AcmeCorp:' };
    const answer = { type: 'message', model, content: [{ type: 'text', text: 'AcmeCorp' }], ...stop };
    const event = { type: 'message_delta', delta: stop };
    const body = { ...question, max_tokens: 9, stop_sequences: ['AcmeCorp:'] };
    gateway.upstream.answer(json(200, answer));
    expect(await (await gateway.post('/v1/messages', body, guest)).json()).toMatchObject({
      ...{ content: [{ text: 'svc' }], stop_sequence: 'AcmeCorp:' },
    });
    gateway.upstream.answer(sse([{ data: JSON.stringify(event) }, { data: '{"type":"message_stop"}' }]));
    const streamed = await gateway.post('/v1/messages', { ...body, stream: true }, guest);
    expect(await streamed.text()).toContain('"stop_sequence":"AcmeCorp:"');
  });

  test('refunds an upstream 5xx', async () => {
    const before = await gateway.post('/v1/chat/completions', question, guest);
    gateway.upstream.answer(html(500, '<h1>AcmeCorp is down</h1>'));
    const failed = await gateway.post('/v1/chat/completions', question, guest);
    expect(failed.status).toBe(500);
    expect(failed.headers.get('x-svc-remaining')).toBe(before.headers.get('x-svc-remaining'));
    expect(await failed.json()).toMatchObject({ error: { code: 'upstream_error', type: 'server_error' } });
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

  test('let no exception escape', () => {
    expect(gateway.faults).toEqual([]);
  });
});
