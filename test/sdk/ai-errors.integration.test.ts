import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { APICallError, generateText, type LanguageModel, streamText } from 'ai';
import { html, json, sse } from '../../local/upstream/script.ts';
import { loadFixtures } from '../support/fixtures.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { aiProviders } from './ai-providers.ts';
import { errorOf, expectHidden, outcomesOf, readAll, startScriptedGateway } from './sdk-gateway.ts';

const prompt = 'Hi.';

const answer = {
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
};

test('retries on a spent quota, which the ai SDK always makes, are not charged', async () => {
  await using gateway = await startScriptedGateway();
  gateway.upstream.otherwise(json(200, answer));
  const key = await gateway.issueKey({ limit: 1 });
  const model = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key }).chat('svc');
  await generateText({ model, prompt });
  const outcomes = await outcomesOf(gateway, async () => {
    const error = await errorOf(generateText({ model, prompt, maxRetries: 1 }));
    expect(error).toMatchObject({ reason: 'maxRetriesExceeded', lastError: { statusCode: 429 } });
  });
  expect(outcomes).toEqual(['quota_exceeded', 'quota_exceeded']);
  expect(await chargesIn(gateway)).toBe(1);
});

describe.each(aiProviders)('errors of the ai SDK with its provider for %s', (_, provider, dialect) => {
  const broken = loadFixtures(dialect)
    .filter((fixture) => fixture.kind === 'stream' && fixture.terminal !== 'end' && !fixture.plainError)
    .map(({ name, bytes }) => [name, bytes] as const);
  let gateway: TestGateway;
  let key: string;
  let modelOf: (key: string, id?: string) => LanguageModel;

  beforeAll(async () => {
    gateway = await startScriptedGateway();
    modelOf = (key, id = 'svc') => provider(`${gateway.url}/v1`, key)(id);
    key = await gateway.issueKey();
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  const failing = async (model: LanguageModel) => {
    const error = await errorOf(generateText({ model, prompt, maxRetries: 0 }));
    if (!APICallError.isInstance(error)) throw error;
    return error;
  };

  test('a wrong key, a wrong model, and an upstream that fails', async () => {
    const unauthorized = await failing(modelOf('ltk_nobody'));
    expect(unauthorized).toMatchObject({ statusCode: 401, isRetryable: false });
    expect(unauthorized.responseHeaders?.['x-svc-error']).toBe('invalid_api_key');
    const message = expect.stringMatching(/^model is unknown/);
    expect(await failing(modelOf(key, 'unheard-of'))).toMatchObject({ statusCode: 400, isRetryable: false, message });
    gateway.upstream.answer(html(500));
    expect(await failing(modelOf(key))).toMatchObject({ statusCode: 500, isRetryable: true });
  });

  test('streams that break', async () => {
    for (const [name, bytes] of broken) {
      gateway.upstream.answer(sse(bytes));
      const errors: unknown[] = [];
      const onError = ({ error }: { error: unknown }) => void errors.push(error);
      const result = streamText({ model: modelOf(key), prompt, maxRetries: 0, onError });
      const parts = await readAll(result.fullStream);
      expect([name, parts.filter(({ type }) => type === 'error').length]).toEqual([name, 1]);
      expect(parts.filter((part) => part.type === 'finish' && part.finishReason !== 'error')).toEqual([]);
      expect(errors.map(expectHidden)).toMatchObject([{ message: expect.stringMatching(/\w/) }]);
    }
  });
});
