import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { embed, embedMany, generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai';
import { z } from 'zod';
import type { DialectName } from '../support/fixtures.ts';
import type { TestGateway } from '../support/gateway.ts';
import { conversation, expectTurnsIn } from '../support/strict-messages.ts';
import {
  answer,
  errorOf,
  expectHidden,
  readAll,
  startRoomyDemoGateway,
  startStrictGateway,
  upstreamsFor,
} from './sdk-gateway.ts';

// The SDK does not know this model, and warns with every request.
globalThis.AI_SDK_LOG_WARNINGS = false;

type Provider = (baseURL: string, key: string) => (model: string) => LanguageModel;

const compatible: Provider = (baseURL, apiKey) =>
  createOpenAICompatible({ name: 'svc', baseURL, apiKey, supportsStructuredOutputs: true }).chatModel;

/** The ai SDK's providers for this gateway, with their dialects. */
const aiProviders: [name: string, Provider, DialectName][] = [
  ['OpenAI (chat)', (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).chat, 'chat'],
  ['OpenAI (responses)', (baseURL, apiKey) => createOpenAI({ baseURL, apiKey }).responses, 'responses'],
  ['OpenAI-compatible', compatible, 'chat'],
  ['Anthropic', (baseURL, apiKey) => createAnthropic({ baseURL, apiKey }), 'messages'],
];

const prompt = 'Who are you?';

test.each(['OpenAI', 'OpenAI-compatible'])('the ai SDK embeds with its provider for %s', async (name) => {
  await using gateway = await startRoomyDemoGateway();
  const access = { name: 'svc', baseURL: `${gateway.url}/v1`, apiKey: await gateway.issueKey() };
  const provider = name === 'OpenAI' ? createOpenAI(access) : createOpenAICompatible(access);
  const model = provider.embeddingModel('svc-embedding');
  const { embedding, usage } = await embed({ model, value: 'a' });
  expect(Math.hypot(...embedding)).toBeCloseTo(1);
  expect(usage.tokens).toBeGreaterThan(0);
  const { embeddings, responses } = await embedMany({ model, values: ['a', 'b'] });
  expect(embeddings).toEqual([embedding, expect.any(Array)]);
  expect(expectHidden(responses)).toHaveLength(1);
});

const cases = aiProviders.flatMap(([name, provider, dialect]) =>
  upstreamsFor(dialect).map(({ kind, start }) => [name, kind, provider, start] as const),
);

describe.each(cases)('the ai SDK with its provider for %s, over an upstream %s', (name, _kind, provider, start) => {
  let gateway: TestGateway;
  let model: LanguageModel;
  let visionModel: LanguageModel;
  let unknownModel: LanguageModel;

  beforeAll(async () => {
    gateway = await start();
    const modelOf = provider(`${gateway.url}/v1`, await gateway.issueKey());
    model = modelOf('svc');
    visionModel = modelOf('svc-vision');
    unknownModel = modelOf('unheard-of');
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  test('generateText', async () => {
    const { text, finishReason, usage, response } = await generateText({ model, prompt });
    expect([text, finishReason]).toEqual([answer, 'stop']);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(expectHidden(response)).toMatchObject({ modelId: 'svc' });
    expect(response.headers?.['x-request-id']).toBe(gateway.log.at(-1)?.requestId);
  });

  test('an error', async () => {
    const error = await errorOf(generateText({ model: unknownModel, prompt, maxRetries: 0 }));
    const message = expect.stringMatching(/^model is unknown/);
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: 400, isRetryable: false, message });
  });

  test('streamText', async () => {
    const result = streamText({ model, prompt });
    expect((await readAll(result.textStream)).join('')).toBe(answer);
    expect(await result.finishReason).toBe('stop');
    expect(expectHidden(await result.response)).toMatchObject({ modelId: 'svc' });
  });

  const asked: string[] = [];
  const tools = {
    get_weather: tool({
      description: 'Tells the weather.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        asked.push(city);
        return `${city}: 21 degrees`;
      },
    }),
  };
  const request = { prompt: 'What is the weather in both Paris and Rome?', tools, stopWhen: isStepCount(3) };

  test('tools, plain and streamed', async () => {
    const { text, steps } = await generateText({ model, ...request });
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(text).toBe('Here is what I found: Paris: 21 degrees; Rome: 21 degrees.');
    const streamed = streamText({ model, ...request });
    expect((await readAll(streamed.textStream)).join('')).toBe(text);
    expect(asked.splice(0).sort()).toEqual(['Paris', 'Paris', 'Rome', 'Rome']);
    expectHidden(await streamed.steps);
  });

  test('a structured output', async () => {
    const output = Output.object({ schema: z.object({ name: z.string() }) });
    expect((await generateText({ model, prompt, output })).output).toEqual({ name: 'Ada' });
  });

  test('images with the vision model', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'file' as const, data: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' },
    ];
    const { text } = await generateText({ model: visionModel, messages: [{ role: 'user', content }] });
    expect(text).toMatch('I can see an image');
  });

  test('reasoning, plain and streamed', async () => {
    const providerOptions = {
      openai: { reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true },
      svc: { reasoningEffort: 'low' },
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
    };
    const whole = await generateText({ model, prompt, providerOptions });
    const streamed = streamText({ model, prompt, providerOptions });
    expect([whole.text, await streamed.text]).toEqual([answer, answer]);
    // OpenAI's chat completions have no reasoning, so its provider reads none.
    const reasoningBlock = /\(chat\)/.test(name) ? undefined : expect.stringMatching('svc taught me to think first');
    expect([whole.reasoningText, await streamed.reasoningText]).toEqual([reasoningBlock, reasoningBlock]);
  });
});

const translatedForMessages = aiProviders
  .filter(([, , dialect]) => dialect !== 'messages')
  .map(([name, provider, dialect]) => ({ name, provider, sendsReasoning: dialect === 'responses' }));

describe.each(translatedForMessages)(
  'ten turns with the provider for $name over messages alone',
  ({ provider, sendsReasoning }) => {
    test.each(['generateText', 'streamText'])(
      'by %s, and the upstream gets its reasoning back where it is sent',
      async (way) => {
        await using gateway = await startStrictGateway(conversation('get_weather', { city: 'Paris' }, 10));
        const request = {
          ...{
            model: provider(`${gateway.url}/v1`, await gateway.issueKey())('svc'),
            prompt,
            stopWhen: isStepCount(20),
          },
          tools: { get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => '21 degrees' }) },
          // Responses that are not stored are sent again instead of referenced.
          providerOptions: { openai: { store: false, reasoningEffort: 'low', forceReasoning: true } },
        };
        const { text } = way === 'generateText' ? await generateText(request) : await streamText(request);
        expect(await text).toBe('Done.');
        expectTurnsIn(gateway.upstream.requests[9], 9, sendsReasoning);
      },
    );
  },
);
