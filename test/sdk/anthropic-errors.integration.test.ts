import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { errorOf, outcomesOf, startScriptedGateway } from './sdk-gateway.ts';

const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: 'end_turn' };
const question = { model: 'svc', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi.' }] };
const vendorError = { type: 'error', error: { type: 'acmecorp_error', message: 'AcmeCorp does not like it.' } };

describe('errors of the anthropic SDK', () => {
  let gateway: TestGateway;
  let client: Anthropic;
  const clientWith = (options: { apiKey?: string | null; authToken?: string | null }) =>
    new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: null, ...options });

  beforeAll(async () => {
    gateway = await startScriptedGateway();
    client = clientWith({ apiKey: await gateway.issueKey() });
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());
  beforeEach(() => gateway.upstream.otherwise(json(200, answer)));

  test('AuthenticationError, without a retry', async () => {
    const outcomes = await outcomesOf(gateway, async () => {
      for (const wrong of [{ apiKey: 'ltk_nobody' }, { authToken: 'ltk_nobody' }, { apiKey: ' ' }]) {
        const error = await errorOf(clientWith(wrong).messages.create(question));
        expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
        expect(error).toMatchObject({ status: 401, type: 'authentication_error' });
      }
    });
    expect(outcomes).toEqual(['invalid_api_key', 'invalid_api_key', 'missing_api_key']);
  });

  test('BadRequestError', async () => {
    const error = await errorOf(client.messages.create({ ...question, model: 'unheard-of' }));
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', errorCode: null });
    expect(error).toMatchObject({ requestID: gateway.log.at(-1)?.requestId });
  });

  test('NotFoundError if the upstream can’t count tokens', async () => {
    gateway.upstream.answer(json(404, vendorError));
    const error = await errorOf(client.messages.countTokens({ model: 'svc', messages: question.messages }));
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(error).toMatchObject({ status: 404, type: 'not_found_error' });
  });

  test('RateLimitError for a spent quota, without a retry', async () => {
    const spent = clientWith({ apiKey: await gateway.issueKey({ limit: 1 }) });
    await spent.messages.create(question);
    const outcomes = await outcomesOf(gateway, async () => {
      const error = await errorOf(spent.messages.create(question));
      expect(error).toBeInstanceOf(Anthropic.RateLimitError);
      expect(error).toMatchObject({ status: 429, type: 'rate_limit_error' });
    });
    expect(outcomes).toEqual(['quota_exceeded']);
  });

  test('retries an upstream failure by itself, for one charge', async () => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(json(529, vendorError));
    const outcomes = await outcomesOf(gateway, () => client.messages.create(question));
    expect(outcomes).toEqual(['upstream_error', 'answered']);
    expect((await chargesIn(gateway)) - before).toBe(1);
  });

  test('takes the key from either header, and a placeholder for a guest', async () => {
    const key = await gateway.issueKey({ limit: 7 });
    const limits: (string | null)[] = [];
    for (const options of [{ apiKey: key }, { authToken: key }, { apiKey: 'any placeholder' }]) {
      const { response } = await clientWith(options).messages.create(question).withResponse();
      limits.push(response.headers.get('x-svc-limit'));
    }
    expect(limits).toEqual(['7', '7', '1000']);
  });

  test('beta requests reach the upstream with their beta header and without their query', async () => {
    await client.beta.messages.create({ ...question, betas: ['interleaved-thinking-2025-05-14'] });
    const { path, headers } = gateway.upstream.requests.at(-1) ?? {};
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
      'anthropic-version': expect.stringMatching(/^\d{4}-/),
      'x-api-key': 'upstream-key-one',
    });
    expect(Object.keys(headers ?? {}).filter((name) => /^(x-stainless|user-agent|cookie)/.test(name))).toEqual([]);
  });
});
