import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type DemoUpstream, startDemoUpstream } from '../../../local/demo/demo-upstream.ts';

let upstream: DemoUpstream;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startDemoUpstream({ pace: 0, now: () => 1_800_000_000_999 });
  openai = new OpenAI({ baseURL: upstream.url, apiKey: upstream.apiKey, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: upstream.url.replace('/v1', ''), apiKey: upstream.apiKey, maxRetries: 0 });
});

afterAll(() => upstream.close());

const model = 'quillon/quill-4-text';
const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

async function post(path: string, body: unknown, key: string = upstream.apiKey) {
  const response = await fetch(`${upstream.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const say = (content: string) => [{ role: 'user' as const, content }];

describe('chat completions', () => {
  test('answers in one piece, and names its maker everywhere', async () => {
    const { status, headers, text } = await post('/chat/completions', { model, messages: say('Who are you?') });
    const answer = JSON.parse(text);
    expect(status).toBe(200);
    expect(headers.get('server')).toContain('quillon');
    expect(answer).toMatchObject({
      id: expect.stringContaining('quillon'),
      object: 'chat.completion',
      created: 1_800_000_000,
      model,
      provider: 'Quillon',
      system_fingerprint: expect.stringContaining('quillon'),
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant' } }],
    });
    expect(answer.choices[0].message.content).toContain('Quillon');
    expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens + answer.usage.completion_tokens);
  });

  test('calls a legacy function, and uses its result', async () => {
    const functions = [{ name: 'get_weather', parameters: weather }];
    const messages = say('What is the weather in both Paris and Rome?');
    const called = await openai.chat.completions.create({ model, messages, functions });
    const [choice] = called.choices;
    const call = { name: 'get_weather', arguments: '{"city":"Paris"}' };
    expect(choice).toMatchObject({ finish_reason: 'function_call', message: { content: null, function_call: call } });
    expect(choice?.message).not.toHaveProperty('tool_calls');
    const stream = openai.chat.completions.stream({ model, messages, functions });
    expect((await stream.finalChatCompletion()).choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: call },
    });
    const answered = await openai.chat.completions.create({
      model,
      messages: [
        ...messages,
        { role: 'assistant', content: null, function_call: call },
        { role: 'function', name: 'get_weather', content: '18 degrees' },
      ],
      functions,
    });
    expect(answered.choices[0]?.message.content).toContain('18 degrees');
  });

  test.each([
    ['none', 'The weather?', undefined],
    ['auto', 'Hello', undefined],
    [{ name: 'get_weather' }, 'Hello', 'get_weather'],
  ] as const)('calls legacy functions as function_call says: %j', async (function_call, text, name) => {
    const functions = [{ name: 'get_weather', parameters: weather }];
    const body = { model, messages: say(text), functions, function_call };
    const { choices } = await openai.chat.completions.create(body);
    expect(choices[0]?.message.function_call?.name).toBe(name);
  });
});

test('a response ends incomplete at a limit', async () => {
  const stream = openai.responses.stream({ model, input: 'x', max_output_tokens: 2 });
  expect(await stream.finalResponse()).toMatchObject({
    ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
});

test.each([
  ['/chat/completions', 'wrong', 401, { error: { type: 'invalid_request_error', code: 'invalid_api_key' } }],
  ['/responses', undefined, 404, { error: { type: 'invalid_request_error', code: 'model_not_found' } }],
  ['/messages', undefined, 404, { type: 'error', error: { type: 'not_found_error' } }],
])('%s is refused in the shape of its dialect (key: %s)', async (path, key, status, body) => {
  const refused = await post(path, { model: 'svc' }, key);
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([status, body]);
});

test('text that an agent adds to the user’s is not taken for a question in any dialect', async () => {
  const note = 'You are in /home. The weather is fine.';
  const question = say('Who are you?')[0];
  const told = async (path: string, body: object) => (await post(path, { model, ...body })).text;
  const bodies: readonly (readonly [path: string, body: object])[] = [
    ['/messages', { max_tokens: 500, messages: [question, { role: 'system', content: note }] }],
    ['/chat/completions', { messages: [question, { role: 'developer', content: note }] }],
    ['/responses', { input: [question, { role: 'developer', content: [{ type: 'input_text', text: note }] }] }],
  ];
  for (const [path, body] of bodies) expect(await told(path, body)).toContain('I am Quill-4');
  const returned = { type: 'function_call_output', call_id: 'c', output: 'snow' };
  expect(await told('/responses', { input: [question, returned, { role: 'developer', content: note }] })).toContain(
    'snow',
  );
});

test('a message stops at a stop sequence, and says at which', async () => {
  const body = { model, max_tokens: 500, messages: say('Hello'), stop_sequences: ['demo'] };
  expect(await anthropic.messages.create(body)).toMatchObject({
    stop_reason: 'stop_sequence',
    stop_sequence: 'demo',
    content: [{ text: 'Quillon here, with a ' }],
  });
});

test('a client that leaves disturbs nobody, and closing ends the streams still running', async () => {
  const slow = await startDemoUpstream({ pace: 20 });
  const begin = async (signal: AbortSignal | null) => {
    const response = await fetch(`${slow.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slow.apiKey}` },
      body: JSON.stringify({ model, messages: say('Write a long story'), stream: true }),
      signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    return reader;
  };
  const leave = new AbortController();
  await begin(leave.signal);
  leave.abort();
  const reader = await begin(null);
  await slow.close();
  await expect(
    (async () => {
      while (!(await reader?.read())?.done);
    })(),
  ).rejects.toThrow();
  await expect(fetch(slow.url)).rejects.toThrow();
});
