import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventText, head, json, type Script, sse, write } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';

const generous = { GUEST_LIMIT: '1000', BURST_LIMIT: '600' };
const bill = { inputTokens: 100_512, cacheReadTokens: 100_000, cacheWriteTokens: 500, outputTokens: 7 };
const absent = {
  ...{ inputTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  ...{ outputTokens: undefined, reasoningTokens: undefined },
};

const chatUsage = {
  prompt_tokens: 100_512,
  prompt_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 500 },
  completion_tokens: 7,
  completion_tokens_details: { reasoning_tokens: 5 },
};
const responsesUsage = {
  input_tokens: 100_512,
  input_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 500 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 5 },
};
const messagesUsage = { input_tokens: 12, cache_creation_input_tokens: 500, cache_read_input_tokens: 100_000 };

const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', ...more } });
const said = (usage?: object | null) =>
  chunk({
    choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
    ...(usage !== undefined && { usage }),
  });
const done = { data: '[DONE]' };
const event = (type: string, more: object) => ({ event: type, data: { type, ...more } });
const response = { id: 'r', object: 'response', output: [] };
const stop = event('message_stop', {});
const text = { type: 'text', text: 'Hi' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: generous });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const bodies = {
  '/v1/chat/completions': { model: 'svc', messages: [] },
  '/v1/responses': { model: 'svc', input: 'hi' },
  '/v1/messages': { model: 'svc', max_tokens: 9, messages: [] },
};

/** A request's log line, and the answer that its client read. */
async function ask(path: keyof typeof bodies, script: Script, more: object = {}, to = gateway) {
  to.upstream.answer(script);
  const answered = await to.post(path, { ...bodies[path], ...more }, { 'x-api-key': 'guest' });
  const read = await answered.text();
  const id = answered.headers.get('x-request-id');
  const find = () => to.log.find(({ requestId, message }) => requestId === id && message === 'answered');
  await waitUntil(() => find() !== undefined, 'the line of the request');
  return { line: find() ?? {}, read, sent: JSON.parse(String(to.upstream.requests.at(-1)?.body)) };
}

describe('usage as it is billed', () => {
  testRows<[string, keyof typeof bodies, Script]>([
    ['a chat', '/v1/chat/completions', json(200, { id: 'c', choices: [choice], usage: chatUsage })],
    ['a response', '/v1/responses', json(200, { ...response, usage: responsesUsage })],
  ])('of a whole answer', async (_, path, script) => {
    const { line } = await ask(path, script);
    const metrics = { InputTokens: 100_512, CacheReadTokens: 100_000, CacheWriteTokens: 500, ReasoningTokens: 5 };
    expect(line).toMatchObject({ ...bill, reasoningTokens: 5, OutputTokens: 7, ...metrics });
    expect(line).not.toHaveProperty('usage');
    expect(line).not.toHaveProperty('AnswersWithoutUsage');
  });

  test('a chat that reports the cache’s tokens beside the sum', async () => {
    const usage = { prompt_tokens: 100_512, cached_tokens: 100_000, completion_tokens: 7 };
    const { line } = await ask('/v1/chat/completions', json(200, { id: 'c', choices: [choice], usage }));
    expect(line).toMatchObject({ inputTokens: 100_512, cacheReadTokens: 100_000, outputTokens: 7 });
  });

  test('a message, whose dialect counts uncached tokens separately', async () => {
    const usage = { ...messagesUsage, output_tokens: 7 };
    const { line } = await ask('/v1/messages', json(200, { type: 'message', content: [text], usage }));
    expect(line).toMatchObject(bill);
  });

  testRows<[string, keyof typeof bodies, Parameters<typeof sse>[0]]>([
    ['the last chunk of a chat', '/v1/chat/completions', [said(), chunk({ choices: [], usage: chatUsage }), done]],
    ['the chunk with the finish reason', '/v1/chat/completions', [said(chatUsage), done]],
    [
      'usage inside of the last choice',
      '/v1/chat/completions',
      [chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: chatUsage }] }), done],
    ],
    [
      'response.completed',
      '/v1/responses',
      [event('response.completed', { sequence_number: 0, response: { ...response, usage: responsesUsage } })],
    ],
    [
      'message_start and message_delta',
      '/v1/messages',
      [
        event('message_start', {
          message: { type: 'message', content: [], usage: { ...messagesUsage, output_tokens: 1 } },
        }),
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
        stop,
      ],
    ],
    [
      'message_delta alone',
      '/v1/messages',
      [
        event('message_start', {
          message: { type: 'message', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
        }),
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { ...messagesUsage, output_tokens: 7 } }),
        stop,
      ],
    ],
  ])('of a stream, wherever it stands', async (_, path, events) => {
    expect((await ask(path, sse(events), { stream: true })).line).toMatchObject(bill);
  });

  testRows(['-1', '1e400', '9007199254740992', '1.5', '"7"', 'null', '[7]'])(
    'anything else is no number of tokens, and spoils no sum',
    async (wrong) => {
      const script = (usage: string): Script => [
        head(200, { 'content-type': 'application/json' }),
        write(`{"choices":[],"content":[],"output":[],"usage":${usage}}`),
      ];
      const chat = `{"prompt_tokens":12,"completion_tokens":${wrong},"prompt_tokens_details":{"cached_tokens":${wrong}}}`;
      const message = `{"input_tokens":12,"output_tokens":${wrong},"cache_read_input_tokens":${wrong}}`;
      const response = `{"input_tokens":12,"output_tokens":${wrong},"input_tokens_details":{"cached_tokens":${wrong}}}`;
      for (const [path, usage] of [
        ['/v1/chat/completions', chat],
        ['/v1/messages', message],
        ['/v1/responses', response],
      ] as const) {
        const { line } = await ask(path, script(usage));
        expect(line).toMatchObject({ inputTokens: 12, InputTokens: 12 });
        for (const kind of ['outputTokens', 'OutputTokens', 'cacheReadTokens', 'CacheReadTokens'])
          expect(line).not.toHaveProperty(kind);
      }
    },
  );

  test('absent if the upstream does not report it', async () => {
    const { line } = await ask('/v1/chat/completions', json(200, { id: 'c', choices: [choice] }));
    expect(line).toMatchObject({ usage: 'absent', AnswersWithoutUsage: 1 });
    expect({ ...absent, ...line }).toMatchObject(absent);
  });

  test('neither reported nor absent if there was no complete answer', async () => {
    gateway.upstream.answer(json(500, {}));
    const refused = await gateway.post('/v1/chat/completions', bodies['/v1/chat/completions'], {
      'x-api-key': 'guest',
    });
    expect(refused.status).toBe(500);
    expect(gateway.log.at(-1)).not.toHaveProperty('usage');
  });
});

describe('UPSTREAM_STREAM_USAGE', () => {
  let asking: TestGateway;
  beforeAll(async () => {
    asking = await startTestGateway({ environment: { ...generous, UPSTREAM_STREAM_USAGE: 'true' } });
  });
  afterAll(() => asking[Symbol.asyncDispose]());

  const path = '/v1/chat/completions';
  const upstream = sse([said(null), chunk({ choices: [], usage: chatUsage }), done]);
  const stream = (more: object, to = asking) => ask(path, upstream, { stream: true, ...more }, to);

  test('the body is left alone without it', async () => {
    const { sent } = await stream({}, gateway);
    expect(sent).not.toHaveProperty('stream_options');
  });

  testRows([
    ['no options', {}, { include_usage: true }],
    ['others', { stream_options: { include_obfuscation: false } }, { include_obfuscation: false, include_usage: true }],
    ['a refusal', { stream_options: { include_usage: false } }, { include_usage: true }],
    ['null', { stream_options: null }, { include_usage: true }],
  ])('asks in the place of a client that did not, and keeps the answer to itself', async (_, more, options) => {
    const { line, read, sent } = await stream(more);
    expect(sent.stream_options).toEqual(options);
    expect(line).toMatchObject(bill);
    expect(read).not.toContain('usage');
    expect(read).toBe([said(), done].map(eventText).join(''));
  });

  test('a client that asks gets its chunk, and its body stays as it is', async () => {
    const { read, sent } = await stream({ stream_options: { include_usage: true } });
    expect(sent.stream_options).toEqual({ include_usage: true });
    expect(read).toContain('"prompt_tokens":100512');
  });

  test('a plain chat is not asked', async () => {
    const { sent } = await ask(path, json(200, { id: 'c', choices: [choice] }), {}, asking);
    expect(sent).not.toHaveProperty('stream_options');
  });
});

test('a member is named by a keyed hash, the same for all its keys', async () => {
  const lines = [];
  for (const member of ['0xAbC', '0xAbC', 'another']) {
    const key = await gateway.issueKey({ member });
    await (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).text();
    lines.push(gateway.log.at(-1)?.member);
  }
  expect(lines[0]).toMatch(/^[\w-]{22}$/);
  expect(lines[1]).toBe(lines[0]);
  expect(lines[2]).not.toBe(lines[0]);
  expect(JSON.stringify(gateway.log)).not.toContain('0xAbC');
});
