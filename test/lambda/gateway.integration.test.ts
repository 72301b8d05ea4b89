import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { json, sse } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const model = 'acmecorp/thunder-70b-instruct';
const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const guest = { authorization: 'Bearer anything' };

describe('the gateway', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

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
});
