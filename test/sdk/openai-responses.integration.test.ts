import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { ResponsesToolRunner, runnerFunction } from 'openai/helpers/responses-tool-runner';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { TestGateway } from '../support/gateway.ts';
import { expectHidden, readAll, startRoomyDemoGateway, upstreams } from './sdk-gateway.ts';

const question = { model: 'svc', input: 'Who are you?' };
const answer = 'I am svc, a pretend model. svc, the company that made me, does not exist either.';
const weather = { name: 'get_weather', description: 'Tells the weather.', parameters: z.object({ city: z.string() }) };

// The tool runner takes plain objects only, and jest runs a test in another realm than the one that clones them.
globalThis.structuredClone = (value: unknown) => JSON.parse(JSON.stringify(value));

describe.each(upstreams)('the openai SDK on responses, over an upstream %s', (_kind, settings) => {
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startRoomyDemoGateway(settings);
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('create', async () => {
    const response = expectHidden(await client.responses.create(question));
    expect(response).toMatchObject({ object: 'response', model: 'svc', status: 'completed', output_text: answer });
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
    expect(response._request_id).toBe(gateway.log.at(-1)?.requestId);
  });

  test('create as a stream', async () => {
    const stream = await client.responses.create({ ...question, stream: true });
    const events = expectHidden(await readAll(stream));
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    expect(text).toBe(answer);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { model: 'svc' } });
  });

  test.each(['parse', 'stream'] as const)('structured output by %s', async (way) => {
    const body = { ...question, text: { format: zodTextFormat(z.object({ name: z.string() }), 'person') } };
    const response =
      way === 'parse' ? await client.responses.parse(body) : await client.responses.stream(body).finalResponse();
    expect(expectHidden(response).output_parsed).toEqual({ name: 'Ada' });
  });

  test.each([false, true])('the tool runner, streaming: %s', async (stream) => {
    const asked: string[] = [];
    const tell = ({ city }: { city: string }) => {
      asked.push(city);
      return `${city}: 21 degrees`;
    };
    const tool = zodResponsesFunction({ ...weather, function: tell });
    const runner = new ResponsesToolRunner({ functions: [runnerFunction(tool)] });
    const body = { model: 'svc', input: 'What is the weather in Paris?' };
    const response = expectHidden(await runner.run(client, body, { stream }));
    expect(asked).toEqual(['Paris']);
    expect(response.output_text).toBe('Here is what I found: Paris: 21 degrees.');
  });
});
