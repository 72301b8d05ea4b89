import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { ResponsesToolRunner, runnerFunction } from 'openai/helpers/responses-tool-runner';
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { TestGateway } from '../support/gateway.ts';
import { answer, expectHidden, readAll, startRoomyDemoGateway, upstreamsFor } from './sdk-gateway.ts';

const content = 'Who are you?';
const found = 'Here is what I found: Paris: 21 degrees.';
const weatherQuestion = 'What is the weather in Paris?';
const asked: string[] = [];
const weather = {
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: z.object({ city: z.string() }),
  function: ({ city }: { city: string }) => {
    asked.push(city);
    return `${city}: 21 degrees`;
  },
};

// The tool runner accepts only plain objects, and Jest runs a test in another realm than `structuredClone`.
globalThis.structuredClone = (value: unknown) => JSON.parse(JSON.stringify(value));

describe.each(upstreamsFor('chat'))('the openai SDK on chat completions, over an upstream $kind', ({ start }) => {
  const messages = [{ role: 'user' as const, content }];
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await start();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('create', async () => {
    const completion = expectHidden(await client.chat.completions.create({ model: 'svc', messages }));
    expect(completion).toMatchObject({ object: 'chat.completion', model: 'svc' });
    expect(completion.choices).toMatchObject([{ message: { content: answer }, finish_reason: 'stop' }]);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    expect(completion._request_id).toBe(gateway.log.at(-1)?.requestId);
  });

  test('create as a stream', async () => {
    const streaming = { model: 'svc', messages, stream: true, stream_options: { include_usage: true } } as const;
    const stream = await client.chat.completions.create(streaming);
    const chunks = expectHidden(await readAll(stream));
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(['svc']));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(answer);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test('parse', async () => {
    const person = z.object({ name: z.string(), age: z.number(), likes: z.array(z.string()) });
    const asking = { model: 'svc', messages, response_format: zodResponseFormat(person, 'person') };
    const completion = expectHidden(await client.chat.completions.parse(asking));
    expect(completion.choices[0]?.message.parsed).toMatchObject({ name: 'Ada', age: 7 });
  });

  test.each([false, true])('runTools, streaming: %s', async (stream) => {
    const weatherMessages = [{ role: 'user' as const, content: weatherQuestion }];
    const body = { model: 'svc', messages: weatherMessages, tools: [zodFunction(weather)] };
    const runner = stream
      ? client.chat.completions.runTools({ ...body, stream: true })
      : client.chat.completions.runTools(body);
    expect(expectHidden(await runner.finalContent())).toBe(found);
    expect(asked.splice(0)).toEqual(['Paris']);
    expect(expectHidden(runner.messages).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });
});

describe('the openai SDK', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startRoomyDemoGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('counts the tokens of an input, free of charge', async () => {
    const { data, response } = await client.responses.inputTokens
      .count({ model: 'svc', input: 'Who are you?' })
      .withResponse();
    expect(data).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(data.input_tokens).toBeGreaterThan(0);
    const after = await client.models.list().withResponse();
    expect(after.response.headers.get('x-svc-remaining')).toBe(response.headers.get('x-svc-remaining'));
  });

  test('embeddings, in base64 (its default) and as numbers', async () => {
    const asking = { model: 'svc-embedding', input: ['a', 'b'], dimensions: 4 };
    const { data, model, usage } = expectHidden(await client.embeddings.create(asking));
    expect([model, data.map(({ index }) => index), data.map(({ embedding }) => embedding.length)]).toEqual([
      ...['svc-embedding', [0, 1]],
      [4, 4],
    ]);
    expect(usage.prompt_tokens).toBe(2);
    const inNumbers = await client.embeddings.create({ ...asking, encoding_format: 'float' });
    expect(inNumbers.data).toEqual(data);
    const ofTokens = await client.embeddings.create({ ...asking, input: [[1, 2], [3]] });
    expect(ofTokens.data).toHaveLength(2);
  });

  test('models', async () => {
    const ids = (await readAll(client.models.list())).map(({ id }) => id);
    expect(ids).toEqual(['svc', 'svc-vision', 'svc-embedding']);
    const model = await client.models.retrieve('svc-vision');
    expect(model).toMatchObject({ id: 'svc-vision', object: 'model', created: 0, owned_by: 'svc' });
  });
});

describe.each(upstreamsFor('responses'))('the openai SDK on responses, over an upstream $kind', ({ start }) => {
  const body = { model: 'svc', input: content };
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await start();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('create', async () => {
    const response = expectHidden(await client.responses.create(body));
    expect(response).toMatchObject({ object: 'response', model: 'svc', status: 'completed', output_text: answer });
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    expect(response._request_id).toBe(gateway.log.at(-1)?.requestId);
  });

  test('create as a stream', async () => {
    const stream = await client.responses.create({ ...body, stream: true });
    const events = expectHidden(await readAll(stream));
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    expect(text).toBe(answer);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { model: 'svc' } });
  });

  test.each(['parse', 'stream'] as const)('structured output by %s', async (way) => {
    const asking = { ...body, text: { format: zodTextFormat(z.object({ name: z.string() }), 'person') } };
    const response =
      way === 'parse' ? await client.responses.parse(asking) : await client.responses.stream(asking).finalResponse();
    expect(expectHidden(response).output_parsed).toEqual({ name: 'Ada' });
  });

  test.each([false, true])('the tool runner, streaming: %s', async (stream) => {
    const tool = zodResponsesFunction(weather);
    const runner = new ResponsesToolRunner({ functions: [runnerFunction(tool)] });
    const asking = { model: 'svc', input: weatherQuestion };
    const response = expectHidden(await runner.run(client, asking, { stream }));
    expect(asked.splice(0)).toEqual(['Paris']);
    expect(response.output_text).toBe(found);
  });
});
