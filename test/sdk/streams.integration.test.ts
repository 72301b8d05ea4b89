import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { sse } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames, loadFixtures, type StreamFixture } from '../support/fixtures.ts';
import type { TestGateway } from '../support/gateway.ts';
import { costOf, errorOf, expectHidden, startScriptedGateway } from './sdk-gateway.ts';

interface Server {
  /** Without the version prefix. */
  readonly url: string;
  readonly apiKey: string;
}

const content = 'Who are you?';
const messages = [{ role: 'user' as const, content }];
const openAi = ({ url, apiKey }: Server) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const anthropic = ({ url, apiKey }: Server) => new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });

/** The answer that each dialect's SDK accumulates from a stream. */
const readers: Record<DialectName, (server: Server) => Promise<object>> = {
  chat: (server) => openAi(server).chat.completions.stream({ model: 'svc', messages }).finalChatCompletion(),
  responses: (server) => openAi(server).responses.stream({ model: 'svc', input: content }).finalResponse(),
  messages: (server) => anthropic(server).messages.stream({ model: 'svc', max_tokens: 9, messages }).finalMessage(),
};

const names =
  /(EXEMPT-AcmeCorp[\w./+=-]*)|acmecorp\/thunder-(70b-instruct|eyes)|api\.acmecorp\.example|acmecorp|thunder|(?<![\p{Script=Latin}_])acme(?=s?(?![\p{Script=Latin}_]))/giu;

/** Members that only upstreams send, or that are removed with changed texts. The SDK keeps only part of `reasoning_content`. */
const dropped =
  /^(provider|system_fingerprint|native_finish_reason|x_.*|cost|cost_details|timings|logprobs|reasoning_content)$/;

const comparable = (answer: object): string =>
  JSON.stringify(answer, (name, value) => (dropped.test(name) ? undefined : value));

/** An answer as it should look behind the gateway: without names, except in what programs parse. */
const hide = (answer: object): string => comparable(answer).replace(names, (_, exempt) => exempt ?? 'svc');

describe.each(dialectNames)('the SDK of %s and streams as recorded:', (dialect) => {
  const read = readers[dialect];
  const streams = loadFixtures(dialect).filter((fixture): fixture is StreamFixture => fixture.kind === 'stream');
  const ending = (...ends: string[]) =>
    streams
      .filter(({ plainError, terminal }) => ends.includes(plainError ? 'error' : terminal))
      .map(({ name, bytes }) => [name, bytes] as const);
  let gateway: TestGateway;
  let through: Server;

  beforeAll(async () => {
    gateway = await startScriptedGateway();
    through = { url: gateway.url, apiKey: await gateway.issueKey() };
  });
  afterAll(async () => gateway[Symbol.asyncDispose]());

  const mended = /^(nan|done-with-white-space)$/;
  // Split names have their own tests, and not every SDK accepts unknown events.
  const plain = ending('end').filter(([name]) => !mended.test(name) && !/^(halves|unknown-events)/.test(name));
  test('reads each as without a gateway, except for names', async () => {
    for (const [name, bytes] of plain) {
      gateway.upstream.otherwise(sse(bytes));
      const direct = await readDirectly();
      const seen = await read(through).catch((error: unknown) => comparable({ error: String(error) }));
      expect([name, JSON.parse(comparable(Object(seen)))]).toEqual([name, JSON.parse(hide(direct))]);
    }
  });

  test('reads what it can’t read without the gateway', async () => {
    for (const [name, bytes] of ending('end').filter(([one]) => mended.test(one))) {
      gateway.upstream.otherwise(sse(bytes));
      await expect(readDirectly()).rejects.toThrow('JSON');
      expect([name, JSON.stringify(await read(through))]).toEqual([name, expect.stringMatching('I am svc by svc')]);
    }
  });

  const readDirectly = () => read({ url: gateway.upstream.url.replace(/\/v1$/, ''), apiKey: 'any' });

  const expectFailure = (outcome: unknown): void => {
    expect(outcome).toBeInstanceOf(dialect === 'messages' ? Anthropic.APIError : OpenAI.APIError);
    expect(outcome).toMatchObject(dialect === 'messages' ? { type: 'api_error' } : { code: 'upstream_error' });
  };

  test('reports what breaks, which costs nothing', async () => {
    for (const [name, bytes] of ending('cut', 'failure')) {
      gateway.upstream.otherwise(sse(bytes));
      const cost = await costOf(gateway, async () => {
        // The SDK does not treat `response.failed` as an error, but as a response with this status.
        if (/failed$/.test(name)) expect(expectHidden(await read(through))).toMatchObject({ status: 'failed' });
        else expectFailure(await errorOf(read(through)));
      });
      expect([name, cost]).toEqual([name, 0]);
    }
  });

  test('gets an HTTP error for a stream that never started', async () => {
    for (const [name, bytes] of ending('error')) {
      gateway.upstream.otherwise(sse(bytes));
      expect([name, await errorOf(read(through))]).toEqual([name, expect.objectContaining({ status: 502 })]);
    }
  });
});
