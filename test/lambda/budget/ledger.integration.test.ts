import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { json, type Script, sse } from '../../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { PRICES } from '../../support/prices.ts';
import { waitUntil } from '../../support/wait-until.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { PRICES, GUEST_LIMIT: '1000', BURST_LIMIT: '600' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const bodies = {
  '/v1/chat/completions': { messages: [] },
  '/v1/responses': { input: 'hi' },
  '/v1/messages': { max_tokens: 9, messages: [] },
};
type Path = keyof typeof bodies;

interface Answer {
  readonly script: Script;
  readonly stream: boolean;
}
const plain = (body: object): Answer => ({ script: json(200, body), stream: false });
const streamed = (events: Parameters<typeof sse>[0]): Answer => ({ script: sse(events), stream: true });

const said = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const chat = (usage: object) => plain({ id: 'c', object: 'chat.completion', choices: [said], usage });
const chunk = (usage?: object) => ({
  data: {
    ...{ id: 'c', object: 'chat.completion.chunk' },
    choices: usage ? [] : [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
    usage: usage ?? null,
  },
});
const chatStream = (usage: object) => streamed([chunk(), chunk(usage), { data: '[DONE]' }]);
const response = (usage: object) => ({ id: 'r', object: 'response', status: 'completed', output: [], usage });
const responseStream = (usage: object) =>
  streamed([{ event: 'response.completed', data: { type: 'response.completed', response: response(usage) } }]);
const message = (usage: object) =>
  plain({ id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }], usage });
const messageStream = (first: object, last: object) =>
  streamed([
    {
      event: 'message_start',
      data: { type: 'message_start', message: { type: 'message', content: [], usage: first } },
    },
    { event: 'message_delta', data: { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last } },
    { event: 'message_stop', data: { type: 'message_stop' } },
  ]);

/*
 * The prices: svc 3.00 in, 15.00 out, 0.30 from the cache, 3.75 to the cache; svc-vision 1.00 in and for its caches, 4.00 out; each
 * for a million tokens, so for one token in millionths. The sums are written out, and rounded up once.
 */
test.each<[string, Path, 'svc' | 'svc-vision', Answer, number]>([
  [
    'a chat that read from the cache',
    '/v1/chat/completions',
    'svc',
    chat({
      ...{ prompt_tokens: 2_006, completion_tokens: 300, total_tokens: 2_306 },
      prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 256, audio_tokens: 0, accepted_prediction_tokens: 0 },
    }),
    // (2006 - 1920) × 3 + 1920 × 0.3 + 300 × 15; reasoning is part of the output
    258 + 576 + 4_500,
  ],
  [
    'a chat that wrote to the cache and read from it',
    '/v1/chat/completions',
    'svc',
    chat({
      ...{ prompt_tokens: 10_339, completion_tokens: 60, total_tokens: 10_399 },
      prompt_tokens_details: { cached_tokens: 10_000, cache_write_tokens: 318 },
    }),
    // 21 × 3 + 10000 × 0.3 + 318 × 3.75 + 60 × 15 = 63 + 3000 + 1192.5 + 900
    5_156,
  ],
  [
    'a chat whose server counts hits of the cache beside the sum',
    '/v1/chat/completions',
    'svc',
    chat({
      ...{ prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 },
      ...{ prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 360 },
    }),
    // 360 × 3 + 640 × 0.3 + 10 × 15
    1_080 + 192 + 150,
  ],
  [
    'a chat’s stream, to the model with the price of its input for caches too',
    '/v1/chat/completions',
    'svc-vision',
    chatStream({
      ...{ prompt_tokens: 777, completion_tokens: 33, total_tokens: 810 },
      prompt_tokens_details: { cached_tokens: 512 },
    }),
    // 777 × 1 + 33 × 4
    777 + 132,
  ],
  [
    'a response that read from the cache',
    '/v1/responses',
    'svc',
    plain(
      response({
        ...{ input_tokens: 36, output_tokens: 87, total_tokens: 123 },
        input_tokens_details: { cached_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 64 },
      }),
    ),
    // 31 × 3 + 5 × 0.3 + 87 × 15 = 93 + 1.5 + 1305
    1_400,
  ],
  [
    'a response’s stream that wrote to the cache and read from it',
    '/v1/responses',
    'svc',
    responseStream({
      ...{ input_tokens: 50_001, output_tokens: 1, total_tokens: 50_002 },
      input_tokens_details: { cached_tokens: 49_000, cache_write_tokens: 1_000 },
    }),
    // 1 × 3 + 49000 × 0.3 + 1000 × 3.75 + 1 × 15
    3 + 14_700 + 3_750 + 15,
  ],
  [
    'a message, whose dialect leaves the caches out of its input',
    '/v1/messages',
    'svc',
    message({
      ...{ input_tokens: 12, output_tokens: 393 },
      ...{ cache_creation_input_tokens: 248, cache_read_input_tokens: 1_800 },
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      service_tier: 'standard',
    }),
    // 12 × 3 + 248 × 3.75 + 1800 × 0.3 + 393 × 15
    36 + 930 + 540 + 5_895,
  ],
  [
    'a message’s stream, which counts the input first and the output last',
    '/v1/messages',
    'svc',
    messageStream(
      { input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 100_001, output_tokens: 1 },
      { output_tokens: 512 },
    ),
    // 4 × 3 + 100001 × 0.3 + 512 × 15 = 12 + 30000.3 + 7680
    37_693,
  ],
  [
    'a message’s stream that corrects the input at its end',
    '/v1/messages',
    'svc-vision',
    messageStream(
      { input_tokens: 25, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
      { input_tokens: 2_679, cache_creation_input_tokens: 11, cache_read_input_tokens: 3, output_tokens: 34 },
    ),
    // (2679 + 11 + 3) × 1 + 34 × 4
    2_693 + 136,
  ],
])('%s costs what it costs by hand', async (_what, path, model, { script, stream }, cost) => {
  gateway.upstream.answer(script);
  const answered = await gateway.post(path, { ...bodies[path], model, stream }, { 'x-api-key': 'guest' });
  await answered.text();
  const id = answered.headers.get('x-request-id');
  const find = () => gateway.log.find(({ requestId, message: what }) => requestId === id && what === 'answered');
  await waitUntil(() => find() !== undefined, 'the line of the request');
  expect(find()?.cost).toBe(cost / 1_000_000);
});
