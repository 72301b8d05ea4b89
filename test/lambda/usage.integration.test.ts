import { afterAll, describe, expect, test } from '@jest/globals';
import { eventText, json, type Script, sse } from '../../local/upstream/script.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { PRICES } from '../support/prices.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';

const generous = { GUEST_LIMIT: '1000', BURST_LIMIT: '600', PRICES };
const gateway = await startTestGateway({ environment: generous });
const asking = await startTestGateway({ environment: { ...generous, UPSTREAM_STREAM_USAGE: 'true' } });
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await asking[Symbol.asyncDispose]();
});

const bodies = {
  '/v1/chat/completions': { messages: [] },
  '/v1/responses': { input: 'hi' },
  '/v1/messages': { max_tokens: 9, messages: [] },
};
type Path = keyof typeof bodies;
const [chatPath, responsesPath, messagesPath] = Object.keys(bodies) as [Path, Path, Path];

/** Sends a request. Returns its log line, what the client read, and what was sent upstream. */
async function ask(path: Path, script: Script, more: object = {}, to = gateway) {
  to.upstream.answer(script);
  const answered = await to.post(path, { model: 'svc', ...bodies[path], ...more }, { 'x-api-key': 'guest' });
  const read = await answered.text();
  const id = answered.headers.get('x-request-id');
  const line = await waitUntil(() => to.log.find(({ requestId }) => requestId === id), 'the line of the request');
  return { line, read, sent: JSON.parse(String(to.upstream.requests.at(-1)?.body)) };
}

const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const chat = (usage?: object) => json(200, { id: 'c', object: 'chat.completion', choices: [choice], usage });
const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', model: 'svc', ...more } });
const said = (more: object = {}) =>
  chunk({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }], ...more });
const count = (usage: object) => chunk({ choices: [], usage });
const done = { data: '[DONE]' };
const event = (type: string, more: object = {}) => ({ event: type, data: { type, ...more } });
const response = (usage: object) => ({ id: 'r', object: 'response', status: 'completed', output: [], usage });
const message = (usage: object) => ({ type: 'message', content: [{ type: 'text', text: 'Hi' }], usage });
const messageStream = (first: object, last: object) =>
  sse([
    event('message_start', { message: message(first) }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: last }),
    event('message_stop'),
  ]);

/** OpenAI's dialects count input tokens including those read from and written to the cache. */
const chatUsage = (prompt: number, output: number, cache: object) => ({
  ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
  ...{ prompt_tokens_details: cache, completion_tokens_details: { reasoning_tokens: 5 } },
});
const responsesUsage = (input: number, output: number, cache: object) => ({
  ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
  ...{ input_tokens_details: cache, output_tokens_details: { reasoning_tokens: 5 } },
});
/** The messages dialect counts input tokens without those. */
const messagesUsage = (input: number, written: number, read: number, output: number) => ({
  ...{ input_tokens: input, cache_creation_input_tokens: written, cache_read_input_tokens: read },
  ...{ output_tokens: output, cache_creation: { ephemeral_5m_input_tokens: written }, service_tier: 'standard' },
});

const cache = { cached_tokens: 10_000, cache_write_tokens: 318 };
const usage = chatUsage(10_339, 60, cache);
const counted = { inputTokens: 10_339, cacheReadTokens: 10_000, cacheWriteTokens: 318, outputTokens: 60 };
const [ofResponse, ofMessage] = [responsesUsage(10_339, 60, cache), messagesUsage(21, 318, 10_000, 60)];
/** Some routers also count under the names of other dialects, in their own way. */
const foreign = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 7, prompt_cache_hit_tokens: 7 };

interface Billed {
  readonly path: Path;
  readonly model?: 'svc-vision';
  readonly whole?: Script;
  readonly stream?: Script;
  /** By their names in the log; by default what most answers here count. */
  readonly tokens?: Readonly<Record<string, number>>;
  readonly cost?: number;
}

/*
 * The prices: svc 3.00 in, 15.00 out, 0.30 from the cache, 3.75 to the cache; svc-vision 1.00 in and for its caches, 4.00 out;
 * each per million tokens, so in millionths per token. The sums are written out, and rounded up once.
 */
const usualCost = Math.ceil(21 * 3 + 10_000 * 0.3 + 318 * 3.75 + 60 * 15);
const besides = { inputTokens: 1_000, cacheReadTokens: 640, outputTokens: 10 };
const besidesCost = 360 * 3 + 640 * 0.3 + 10 * 15;

testRows<Billed>([
  { path: chatPath, whole: chat(usage), tokens: { ...counted, reasoningTokens: 5 } },
  ...[{ cached_tokens: 640 }, { prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 360 }].map((besideTheSum) => {
    const whole = chat({ prompt_tokens: 1_000, completion_tokens: 10, ...besideTheSum });
    return { path: chatPath, whole, tokens: besides, cost: besidesCost };
  }),
  { path: chatPath, stream: sse([said({ usage: null }), count(usage), done]) },
  {
    path: chatPath,
    stream: sse([chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }), done]),
  },
  {
    ...{ path: chatPath, model: 'svc-vision' },
    stream: sse([said(), count(chatUsage(777, 33, { cached_tokens: 512 })), done]),
    tokens: { inputTokens: 777, cacheReadTokens: 512, outputTokens: 33 },
    cost: 777 + 33 * 4,
  },
  { path: responsesPath, whole: json(200, response(ofResponse)), tokens: { ...counted, reasoningTokens: 5 } },
  { path: responsesPath, whole: json(200, response({ ...foreign, ...ofResponse })) },
  { path: messagesPath, whole: json(200, message({ ...foreign, ...ofMessage })) },
  { path: chatPath, whole: chat({ ...usage, cache_creation_input_tokens: 9, cache_read_input_tokens: 9 }) },
  { path: responsesPath, stream: sse([event('response.completed', { response: response(ofResponse) })]) },
  { path: messagesPath, whole: json(200, message(ofMessage)) },
  { path: messagesPath, stream: messageStream({ ...ofMessage, output_tokens: 1 }, { output_tokens: 60 }) },
  { path: messagesPath, stream: messageStream(messagesUsage(0, 0, 0, 0), ofMessage) },
  {
    ...{ path: messagesPath, model: 'svc-vision' },
    stream: messageStream(messagesUsage(25, 0, 0, 1), messagesUsage(2_679, 11, 3, 34)),
    tokens: { inputTokens: 2_693, outputTokens: 34 },
    cost: 2_693 + 34 * 4,
  },
])(
  'tokens are logged, measured and priced as they are billed, wherever an answer counts them',
  async ({ path, model = 'svc', whole, stream, tokens = counted, cost = usualCost }) => {
    const { line } = await ask(path, whole ?? stream ?? [], { model, stream: stream !== undefined });
    const metrics = Object.entries(tokens).map(([name, value]) => [`${name[0]?.toUpperCase()}${name.slice(1)}`, value]);
    const spent = { [`Spent(${model})`]: cost / 1_000_000, SavedByCaches: expect.any(Number) };
    expect(line).toMatchObject({ ...tokens, cost: cost / 1_000_000 });
    expect(metricsOf(line)).toMatchObject({ ...Object.fromEntries(metrics), ...spent });
    expect(line).not.toHaveProperty('usage');
    expect(line).not.toHaveProperty('AnswersWithoutUsage');
  },
);

testRows(['-1', '9007199254740992', '1.5', '"7"'])(
  'anything else is no number of tokens, and spoils no sum',
  async (wrong) => {
    const openAi = (input: string, output: string) =>
      `{"${input}":12,"${output}":${wrong},"${input}_details":{"cached_tokens":${wrong}}}`;
    for (const [path, counts] of [
      [chatPath, openAi('prompt_tokens', 'completion_tokens')],
      [responsesPath, openAi('input_tokens', 'output_tokens')],
      [messagesPath, `{"input_tokens":12,"output_tokens":${wrong},"cache_read_input_tokens":${wrong}}`],
    ] as const) {
      const { line } = await ask(path, sse(`{"choices":[],"content":[],"output":[],"usage":${counts}}`));
      expect(line).toMatchObject({ inputTokens: 12, InputTokens: 12 });
      expect(Object.keys(line).filter((name) => /^(output|cacheRead)Tokens$/i.test(name))).toEqual([]);
    }
  },
);

test('usage is absent if the upstream reports none, and not mentioned if no answer was complete', async () => {
  const { line } = await ask(chatPath, chat());
  expect(line).toMatchObject({ usage: 'absent', AnswersWithoutUsage: 1 });
  expect(Object.keys(line).filter((name) => name.endsWith('Tokens'))).toEqual([]);
  expect((await ask(chatPath, json(500, {}))).line).not.toHaveProperty('usage');
});

describe('UPSTREAM_STREAM_USAGE', () => {
  const upstream = sse([said({ usage: null }), count(usage), done]);
  const stream = (more: object, to = asking) => ask(chatPath, upstream, { stream: true, ...more }, to);

  testRows([
    [{}, { include_usage: true }],
    [{ stream_options: { include_obfuscation: false } }, { include_obfuscation: false, include_usage: true }],
    [{ stream_options: { include_usage: false } }, { include_usage: true }],
    [{ stream_options: null }, { include_usage: true }],
  ])('requests usage for clients that did not, and does not forward it', async (more, options) => {
    const { line, read, sent } = await stream(more);
    expect(sent.stream_options).toEqual(options);
    expect(line).toMatchObject(counted);
    expect(read).toBe([said(), done].map(eventText).join(''));
  });

  test('a client that requests usage gets its chunk; plain chats, and any without the setting, are not changed', async () => {
    expect((await stream({ stream_options: { include_usage: true } })).read).toContain('"prompt_tokens":10339');
    expect((await ask(chatPath, chat(), {}, asking)).sent).not.toHaveProperty('stream_options');
    expect((await stream({}, gateway)).sent).not.toHaveProperty('stream_options');
  });
});

test('a member is named by a keyed hash, the same for all its keys', async () => {
  const named = async (member: string) => {
    const key = await gateway.issueKey({ member });
    await (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).text();
    return gateway.log.at(-1)?.member;
  };
  const name = await named('0xAbC');
  expect(name).toMatch(/^[\w-]{22}$/);
  expect([await named('0xAbC'), await named('another')]).toEqual([name, expect.not.stringMatching(String(name))]);
  expect(JSON.stringify(gateway.log)).not.toContain('0xAbC');
});
