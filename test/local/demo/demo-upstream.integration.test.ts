import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { createDialects } from '../../../lambda/dialects/index.ts';
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
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const say = (content: string) => [{ role: 'user' as const, content }];

/** The events of a stream: their names (where they have one) and their data. */
function readEvents(text: string) {
  return text
    .split('\n\n')
    .filter((block) => /^(event|data):/.test(block))
    .map((block) => {
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? '';
      return { name: /^event: (.*)$/m.exec(block)?.[1], data: data === '[DONE]' ? data : JSON.parse(data) };
    });
}

/** Names of events, each run of the same name written once. */
const outline = (events: readonly { name: string | undefined }[]) =>
  events.map(({ name }) => name).filter((name, index, names) => name !== names[index - 1]);

test.each(
  createDialects({ signsThinking: false, streamUsage: false }).flatMap(({ endpoints }) =>
    endpoints.map(({ upstreamPath }) => upstreamPath),
  ),
)('has %s, as a line of local/upstream/index.ts', async (path) => {
  // An empty body lacks the model.
  expect((await post(path, {})).text).toContain("no model 'undefined'");
});

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

  test('streams role, content, finish, usage and the end mark in that order', async () => {
    const body = { model, messages: say('Hello there'), stream: true, stream_options: { include_usage: true } };
    const { text, headers } = await post('/chat/completions', body);
    expect(headers.get('content-type')).toContain('text/event-stream');
    const events = readEvents(text).map(({ data }) => data);
    const [first, ...rest] = events;
    expect(first.choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(rest.at(-1)).toBe('[DONE]');
    expect(rest.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(rest.at(-3).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    const pieces = rest.slice(0, -3).map((chunk) => chunk.choices[0].delta.content);
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.some((piece) => piece.includes('Quillon'))).toBe(false);
    const whole = JSON.parse((await post('/chat/completions', { model, messages: say('Hello there') })).text);
    expect(pieces.join('')).toBe(whole.choices[0].message.content);
    expect(pieces.join('')).toContain('Quillon');
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
    ['none', 'The weather?', false],
    ['auto', 'Hello', false],
    [{ name: 'get_weather' }, 'Hello', true],
  ] as const)('calls legacy functions as function_call says: %j', async (function_call, text, calls) => {
    const functions = [{ name: 'get_weather', parameters: weather }];
    const body = { model, messages: say(text), functions, function_call };
    const { choices } = await openai.chat.completions.create(body);
    expect(choices[0]?.message.function_call?.name).toBe(calls ? 'get_weather' : undefined);
  });
});

describe('responses', () => {
  test('streams the events of a reasoning item and a message in their order', async () => {
    const include = ['reasoning.encrypted_content'];
    const body = { model, input: 'Hello', stream: true, reasoning: { effort: 'low', summary: 'auto' }, include };
    const events = readEvents((await post('/responses', body)).text);
    expect(outline(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.every(({ name, data }) => name === data.type)).toBe(true);
    expect(events[0]?.data.response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    const { response } = events.at(-1)?.data ?? {};
    const whole = JSON.parse((await post('/responses', { ...body, stream: false })).text);
    expect(response.output[1].content).toEqual(whole.output[1].content);
    expect(response.usage).toEqual(whole.usage);
    const summary = [{ type: 'summary_text', text: expect.stringContaining('Quillon') }];
    expect(response.output[0]).toMatchObject({ summary, encrypted_content: expect.stringMatching(/^[\w+/]{80,}=*$/) });
    expect(response.usage.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
  });
});

test('a response ends incomplete at a limit', async () => {
  const { text } = await post('/responses', { model, input: 'x', max_output_tokens: 2, stream: true });
  expect(readEvents(text).at(-1)).toMatchObject({
    name: 'response.incomplete',
    data: { response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } },
  });
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

describe('messages', () => {
  const max_tokens = 500;

  test('streams the events of thinking, signature and text in their order', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const body = { model, max_tokens, messages: say('Hello'), stream: true, thinking };
    const events = readEvents((await post('/messages', body)).text);
    expect(outline(events)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]?.data.message).toMatchObject({
      model,
      content: [],
      stop_reason: null,
      usage: { output_tokens: 1 },
    });
    const kinds = events.flatMap(({ data }) => data.delta?.type ?? []);
    expect([...new Set(kinds)]).toEqual(['thinking_delta', 'signature_delta', 'text_delta']);
    expect(events.at(-2)?.data).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: {} });
  });

  test('stops at a stop sequence, sees images, counts tokens', async () => {
    const stop_sequences = ['demo'];
    const stopped = await anthropic.messages.create({ model, max_tokens, messages: say('Hello'), stop_sequences });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'demo' });
    expect(stopped.content).toMatchObject([{ text: 'Quillon here, with a ' }]);
    const source = { type: 'url' as const, url: 'https://example.com/cat.png' };
    const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }];
    expect((await anthropic.messages.create({ model, max_tokens, messages })).content).toMatchObject([
      { text: expect.stringContaining('an image') },
    ]);
    const { input_tokens } = await anthropic.messages.countTokens({ model, messages: say('four times four words') });
    const longer = await anthropic.messages.countTokens({ model, messages: say('four times four words '.repeat(9)) });
    expect(input_tokens).toBeGreaterThan(0);
    expect(longer.input_tokens).toBeGreaterThan(input_tokens);
  });
});

describe('refusals, in the shape of each dialect', () => {
  const openaiShape = (type: string, code: string | null) => ({
    error: { message: expect.stringContaining('Quillon'), type, param: null, code },
  });
  const messagesShape = (type: string) => ({
    type: 'error',
    error: { type, message: expect.stringContaining('Quillon') },
  });

  test.each(['/chat/completions', '/responses'])('%s', async (path) => {
    const invalid = openaiShape('invalid_request_error', null);
    const wrongKey = await post(path, { model }, 'wrong');
    expect([wrongKey.status, JSON.parse(wrongKey.text)]).toEqual([
      401,
      openaiShape('invalid_request_error', 'invalid_api_key'),
    ]);
    const unknown = await post(path, { model: 'svc' });
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([
      404,
      openaiShape('invalid_request_error', 'model_not_found'),
    ]);
    for (const body of ['{', '[]', { model }]) {
      const { status, text } = await post(path, body);
      expect([status, JSON.parse(text)]).toEqual([400, invalid]);
    }
  });

  test.each(['/messages', '/messages/count_tokens'])('%s', async (path) => {
    const wrongKey = await post(path, { model }, 'wrong');
    expect([wrongKey.status, JSON.parse(wrongKey.text)]).toEqual([401, messagesShape('authentication_error')]);
    const unknown = await post(path, { model: 'svc' });
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([404, messagesShape('not_found_error')]);
    for (const body of ['{', '[]', { model }]) {
      const { status, text } = await post(path, body);
      expect([status, JSON.parse(text)]).toEqual([400, messagesShape('invalid_request_error')]);
    }
  });

  test('messages without max_tokens', async () => {
    expect((await post('/messages', { model, messages: say('Hello') })).status).toBe(400);
  });

  test('another path or method', async () => {
    expect((await post('/embeddings', {})).status).toBe(404);
    expect((await fetch(`${upstream.url}/messages`)).status).toBe(404);
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
