import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { APICallError, generateText, type LanguageModel, streamText } from 'ai';
import { sse } from '../../local/upstream/script.ts';
import { loadFixtures } from '../support/fixtures.ts';
import type { TestGateway } from '../support/gateway.ts';
import { aiProviders } from './ai-providers.ts';
import { errorOf, expectHidden, readAll, startScriptedGateway } from './sdk-gateway.ts';

const prompt = 'Hi.';

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

  test('a wrong model', async () => {
    const error = await failing(modelOf(key, 'unheard-of'));
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
    expect(error.message).toMatch(/^model is unknown/);
    expect(error.responseHeaders?.['x-request-id']).toBe(gateway.log.at(-1)?.requestId);
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
