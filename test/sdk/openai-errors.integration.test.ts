import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { json } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { errorOf, outcomesOf, startScriptedGateway } from './sdk-gateway.ts';

const answers = {
  chat: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  },
  responses: { id: 'resp_1', object: 'response', status: 'completed', output: [] },
};

/** One question in both dialects. */
const dialects = {
  chat: (client: OpenAI, model: string) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi.' }] }),
  responses: (client: OpenAI, model: string) => client.responses.create({ model, input: 'Hi.' }),
};

const vendorError = { error: { message: 'AcmeCorp does not like temperature 9.', type: 'acmecorp_error' } };

describe.each(['chat', 'responses'] as const)('errors of the openai SDK on %s', (dialect) => {
  const ask = (client: OpenAI, model = 'svc') => dialects[dialect](client, model);
  let gateway: TestGateway;
  let client: OpenAI;
  const clientWith = (apiKey: string, headers: Record<string, string | null> = {}) =>
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, defaultHeaders: headers });

  beforeAll(async () => {
    gateway = await startScriptedGateway();
    client = clientWith(await gateway.issueKey());
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());
  beforeEach(() => gateway.upstream.otherwise(json(200, answers[dialect])));

  test('AuthenticationError, without a retry', async () => {
    const outcomes = await outcomesOf(gateway, async () => {
      const wrong = await errorOf(ask(clientWith('ltk_nobody')));
      expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(wrong).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error' });
      const missing = await errorOf(ask(clientWith('unsent', { authorization: null })));
      expect(missing).toBeInstanceOf(OpenAI.AuthenticationError);
      expect(missing).toMatchObject({ status: 401, code: 'missing_api_key' });
    });
    expect(outcomes).toEqual(['invalid_api_key', 'missing_api_key']);
  });

  test('BadRequestError', async () => {
    const error = await errorOf(ask(client, 'gpt-unheard-of'));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_model', type: 'invalid_request_error' });
    expect(error).toMatchObject({ requestID: gateway.log.at(-1)?.requestId });
  });

  test('NotFoundError', async () => {
    const model = await errorOf(client.models.retrieve('svc-nothing'));
    expect(model).toBeInstanceOf(OpenAI.NotFoundError);
    expect(model).toMatchObject({ status: 404, code: 'model_not_found' });
    const path = await errorOf(client.embeddings.create({ model: 'svc', input: 'Hi.' }));
    expect(path).toBeInstanceOf(OpenAI.NotFoundError);
    expect(path).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('RateLimitError for a spent quota, without a retry', async () => {
    const spent = clientWith(await gateway.issueKey({ limit: 1 }));
    await ask(spent);
    const outcomes = await outcomesOf(gateway, async () => {
      const error = await errorOf(ask(spent));
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ status: 429, code: 'quota_exceeded', type: 'insufficient_quota' });
    });
    expect(outcomes).toEqual(['quota_exceeded']);
  });

  test('retries an upstream failure by itself, for one charge', async () => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(json(500, vendorError));
    const outcomes = await outcomesOf(gateway, () => ask(client));
    expect(outcomes).toEqual(['upstream_error', 'answered']);
    expect((await chargesIn(gateway)) - before).toBe(1);
  });

  test('takes the key from either header, and a placeholder for a guest', async () => {
    const key = await gateway.issueKey({ limit: 7 });
    const limits: (string | null)[] = [];
    for (const caller of [clientWith(key), clientWith('unused', { 'api-key': key }), clientWith('any placeholder')]) {
      const { response } = await ask(caller).withResponse();
      limits.push(response.headers.get('x-svc-limit'));
    }
    expect(limits).toEqual(['7', '7', '1000']);
  });
});
