import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { answer, expectHidden, outcomesOf, readAll, startRoomyDemoGateway, upstreamsFor } from './sdk-gateway.ts';

const ask = (content: string) => ({ model: 'svc', max_tokens: 500, messages: [{ role: 'user' as const, content }] });
const question = ask('Who are you?');
const weatherTool = {
  name: 'get_weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(upstreamsFor('messages'))('the anthropic SDK on messages, over an upstream $kind', ({ start }) => {
  let gateway: TestGateway;
  let client: Anthropic;

  beforeAll(async () => {
    gateway = await start();
    client = new Anthropic({ baseURL: gateway.url, apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('create, and the stream helper accumulates the same message', async () => {
    const message = expectHidden(await client.messages.create(question));
    const said = { model: 'svc', content: [{ type: 'text', text: answer }], stop_reason: 'end_turn' };
    expect(message).toMatchObject({ type: 'message', ...said });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message._request_id).toBe(gateway.log.at(-1)?.requestId);
    const stream = client.messages.stream(question);
    expect(expectHidden(await stream.finalMessage())).toMatchObject(said);
    expect(stream.request_id).toBe(gateway.log.at(-1)?.requestId);
  });

  test('tools, plain and streamed', async () => {
    const body = { ...ask('What is the weather in both Paris and Rome?'), tools: [weatherTool] };
    const calls = [
      { type: 'tool_use', name: 'get_weather', input: { city: 'Paris' } },
      { type: 'tool_use', name: 'get_weather', input: { city: 'Rome' } },
    ];
    const message = expectHidden(await client.messages.create(body));
    expect(message).toMatchObject({ stop_reason: 'tool_use', content: calls });
    const streamed = expectHidden(await client.messages.stream(body).finalMessage());
    expect(streamed).toMatchObject({ stop_reason: 'tool_use', content: calls });

    const results = streamed.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'sunny in Quillon City' }]
        : [],
    );
    const called = { role: 'assistant' as const, content: streamed.content };
    const messages = [...body.messages, called, { role: 'user' as const, content: results }];
    const last = expectHidden(await client.messages.create({ ...body, messages }));
    expect(last.content).toMatchObject([{ text: 'Here is what I found: sunny in svc City; sunny in svc City.' }]);
  });

  test('thinking, which can be sent back', async () => {
    const body = { ...ask('Who are you?'), thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
    const whole = expectHidden(await client.messages.create(body));
    const streamed = expectHidden(await client.messages.stream(body).finalMessage());
    const thinking = expect.stringMatching('svc taught me');
    const reasoningBlock = { type: 'thinking', thinking, signature: expect.stringMatching(/.{20}/) };
    for (const { content } of [whole, streamed])
      expect(content).toMatchObject([reasoningBlock, { type: 'text', text: answer }]);
    const messages = [...body.messages, { role: 'assistant' as const, content: streamed.content }, ...body.messages];
    expect(await client.messages.create({ ...body, messages })).toMatchObject({ stop_reason: 'end_turn' });
  });

  test('structured output', async () => {
    const format = zodOutputFormat(z.object({ name: z.string() }));
    const message = await client.messages.parse({ ...question, output_config: { format } });
    expect(expectHidden(message).parsed_output).toEqual({ name: 'Ada' });
  });

  test.each([false, true])(
    'the tool runner falls back to full history, free of charge, streaming: %s',
    async (stream) => {
      const asked: string[] = [];
      const tool = betaZodTool({
        name: 'get_weather',
        description: 'Tells the weather.',
        inputSchema: z.object({ city: z.string() }),
        run: ({ city }) => {
          asked.push(city);
          return `${city}: 21 degrees`;
        },
      });
      const charged = await chargesIn(gateway);
      const outcomes = await outcomesOf(gateway, async () => {
        const asking = { ...ask('What is the weather in Paris?'), tools: [tool], stream };
        const runner = client.beta.messages.toolRunner(asking);
        const message = expectHidden(await runner.runUntilDone());
        expect(message.content).toMatchObject([{ type: 'text', text: 'Here is what I found: Paris: 21 degrees.' }]);
      });
      expect(asked).toEqual(['Paris']);
      expect(outcomes).toEqual(['answered', 'invalid_request', 'answered']);
      expect((await chargesIn(gateway)) - charged).toBe(2);
    },
  );

  test('models', async () => {
    const models = await readAll(client.models.list({ limit: 1 }));
    expect(models.map((model) => [model.id, model.display_name, model.type])).toEqual([
      ['svc', 'svc', 'model'],
      ['svc-vision', 'svc-vision', 'model'],
      ['svc-embedding', 'svc-embedding', 'model'],
    ]);
    expect(await client.models.retrieve('svc')).toMatchObject({ id: 'svc', display_name: 'svc' });
  });
});

test('the anthropic SDK counts tokens, free of charge', async () => {
  await using gateway = await startRoomyDemoGateway();
  const client = new Anthropic({ baseURL: gateway.url, apiKey: await gateway.issueKey() });
  const body = { model: 'svc', messages: question.messages };
  const { data, response } = await client.messages.countTokens(body).withResponse();
  expect(data.input_tokens).toBeGreaterThan(0);
  const again = await client.messages.countTokens(body).withResponse();
  expect(again.response.headers.get('x-svc-remaining')).toBe(response.headers.get('x-svc-remaining'));
});
