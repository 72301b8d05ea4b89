import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { TestGateway } from '../support/gateway.ts';
import { expectHidden, readAll, startRoomyDemoGateway } from './sdk-gateway.ts';

const question = [{ role: 'user' as const, content: 'Who are you?' }];
const answer = 'I am svc, a pretend model. svc, the company that made me, does not exist either.';
const weather = { name: 'get_weather', description: 'Tells the weather.', parameters: z.object({ city: z.string() }) };
const weatherQuestion = [{ role: 'user' as const, content: 'What is the weather in Paris?' }];

describe('the openai SDK on chat completions', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startRoomyDemoGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('create', async () => {
    const completion = expectHidden(await client.chat.completions.create({ model: 'svc', messages: question }));
    expect(completion).toMatchObject({ object: 'chat.completion', model: 'svc' });
    expect(completion.choices).toMatchObject([{ message: { content: answer }, finish_reason: 'stop' }]);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    expect(completion._request_id).toBe(gateway.log.at(-1)?.requestId);
  });

  test('create as a stream', async () => {
    const stream = await client.chat.completions.create({
      model: 'svc',
      messages: question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = expectHidden(await readAll(stream));
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(['svc']));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(answer);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test('parse', async () => {
    const person = z.object({ name: z.string(), age: z.number(), likes: z.array(z.string()) });
    const completion = expectHidden(
      await client.chat.completions.parse({
        model: 'svc',
        messages: question,
        response_format: zodResponseFormat(person, 'person'),
      }),
    );
    expect(completion.choices[0]?.message.parsed).toMatchObject({ name: 'Ada', age: 7 });
  });

  test.each([false, true])('runTools, streaming: %s', async (stream) => {
    const asked: string[] = [];
    const tell = ({ city }: { city: string }) => {
      asked.push(city);
      return `${city}: 21 degrees`;
    };
    const body = { model: 'svc', messages: weatherQuestion, tools: [zodFunction({ ...weather, function: tell })] };
    const runner = stream
      ? client.chat.completions.runTools({ ...body, stream: true })
      : client.chat.completions.runTools(body);
    expect(expectHidden(await runner.finalContent())).toBe('Here is what I found: Paris: 21 degrees.');
    expect(asked).toEqual(['Paris']);
    expect(expectHidden(runner.messages).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(['svc', 'svc-vision']);
    const model = await client.models.retrieve('svc-vision');
    expect(model).toMatchObject({ id: 'svc-vision', object: 'model', created: 0, owned_by: 'svc' });
  });
});
