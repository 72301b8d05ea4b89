import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { json } from '../../local/upstream/script.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { errorOf, outcomesOf, startScriptedGateway } from './sdk-gateway.ts';

type Ask = (model: string) => Promise<unknown> & { withResponse(): Promise<{ response: Response }> };

/** An SDK in one dialect: how to call it, and how it reports the gateway's errors. */
interface Sdk {
  readonly errors: typeof OpenAI | typeof Anthropic;
  readonly answer: object;
  /** With this key in either header. */
  ways(url: string, key: string): [Ask, Ask];
  withoutKey(url: string): Ask;
  readonly seen: Readonly<Record<'missingKey' | 'wrongKey' | 'badModel' | 'spentQuota', object>>;
  readonly failure: number;
}

const messages = [{ role: 'user' as const, content: 'Hi.' }];

const openAi = (answer: object, askWith: (client: OpenAI) => Ask): Sdk => {
  const ask = (url: string, apiKey: string, defaultHeaders: Record<string, string | null> = {}) =>
    askWith(new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders }));
  const type = 'invalid_request_error';
  return {
    ...{ errors: OpenAI, answer, failure: 500 },
    ways: (url, key) => [ask(url, key), ask(url, 'unused', { 'api-key': key })],
    withoutKey: (url) => ask(url, 'unsent', { authorization: null }),
    seen: {
      missingKey: { code: 'missing_api_key' },
      wrongKey: { code: 'invalid_api_key', type },
      badModel: { code: 'invalid_model', type },
      spentQuota: { code: 'quota_exceeded', type: 'insufficient_quota' },
    },
  };
};

const anthropicAsk = (options: ConstructorParameters<typeof Anthropic>[0]): Ask => {
  const client = new Anthropic({ apiKey: null, authToken: null, ...options });
  return (model) => client.messages.create({ model, max_tokens: 10, messages });
};

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: 'end_turn' };
const said = { index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' };
const sdks: Readonly<Record<string, Sdk>> = {
  chat: openAi(
    { id: 'chatcmpl-1', object: 'chat.completion', choices: [said] },
    ({ chat }) =>
      (model) =>
        chat.completions.create({ model, messages }),
  ),
  responses: openAi(
    { id: 'resp_1', object: 'response', status: 'completed', output: [] },
    ({ responses }) =>
      (model) =>
        responses.create({ model, input: 'Hi.' }),
  ),
  messages: {
    ...{ errors: Anthropic, answer: message, failure: 529 },
    ways: (baseURL, key) => [anthropicAsk({ baseURL, apiKey: key }), anthropicAsk({ baseURL, authToken: key })],
    withoutKey: (baseURL) => anthropicAsk({ baseURL, apiKey: ' ' }),
    seen: {
      missingKey: { type: 'authentication_error' },
      wrongKey: { type: 'authentication_error' },
      badModel: { type: 'invalid_request_error', errorCode: null },
      spentQuota: { type: 'rate_limit_error' },
    },
  },
};

const vendorError = { type: 'error', error: { type: 'acmecorp_error', message: 'AcmeCorp does not like it.' } };

describe.each(Object.entries(sdks))('errors of the SDK on %s', (_dialect, { errors, seen, ...sdk }) => {
  let gateway: TestGateway;
  let ask: Ask;

  beforeAll(async () => {
    gateway = await startScriptedGateway();
    [ask] = sdk.ways(gateway.url, await gateway.issueKey());
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());
  beforeEach(() => gateway.upstream.otherwise(json(200, sdk.answer)));

  const expectError = async (asking: PromiseLike<unknown>, kind: unknown, seen: object) => {
    const error = await errorOf(asking);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ ...seen, requestID: gateway.log.at(-1)?.requestId });
  };

  test('AuthenticationError, without a retry', async () => {
    const outcomes = await outcomesOf(gateway, async () => {
      for (const wrong of sdk.ways(gateway.url, 'ltk_nobody')) {
        await expectError(wrong('svc'), errors.AuthenticationError, { status: 401, ...seen.wrongKey });
      }
      const missing = sdk.withoutKey(gateway.url)('svc');
      await expectError(missing, errors.AuthenticationError, { status: 401, ...seen.missingKey });
    });
    expect(outcomes).toEqual(['invalid_api_key', 'invalid_api_key', 'missing_api_key']);
  });

  test('BadRequestError', () =>
    expectError(ask('unheard-of'), errors.BadRequestError, { status: 400, ...seen.badModel }));

  test('RateLimitError for a spent quota, without a retry', async () => {
    const [spent] = sdk.ways(gateway.url, await gateway.issueKey({ limit: 0 }));
    const outcomes = await outcomesOf(gateway, () =>
      expectError(spent('svc'), errors.RateLimitError, { status: 429, ...seen.spentQuota }),
    );
    expect(outcomes).toEqual(['quota_exceeded']);
  });

  test('retries an upstream failure by itself, for one charge', async () => {
    const before = await chargesIn(gateway);
    gateway.upstream.answer(json(sdk.failure, vendorError));
    expect(await outcomesOf(gateway, () => ask('svc'))).toEqual(['upstream_error', 'answered']);
    expect((await chargesIn(gateway)) - before).toBe(1);
  });

  test('takes the key from either header, and a placeholder for a guest', async () => {
    const [placeholder] = sdk.ways(gateway.url, 'any placeholder');
    const limits: (string | null)[] = [];
    for (const way of [...sdk.ways(gateway.url, await gateway.issueKey({ limit: 7 })), placeholder]) {
      limits.push((await way('svc').withResponse()).response.headers.get('x-svc-limit'));
    }
    expect(limits).toEqual(['7', '7', '1000']);
  });
});
