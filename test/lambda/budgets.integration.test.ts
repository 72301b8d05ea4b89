import { afterAll, describe, expect, test } from '@jest/globals';
import { head, json, type Script, sse, write } from '../../local/upstream/script.ts';
import {
  answer,
  answerWith,
  body,
  choice,
  chunk,
  cost,
  end,
  inputCost,
  last,
  path,
  piece,
  pieceCost,
  settled,
  startPricedGateway,
  streamed,
  usage,
} from '../support/priced-gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';
import { turnEventLoop, waitUntil } from '../support/wait-until.ts';

const gateway = await startPricedGateway({ environment: { UPSTREAM_SIGNS_THINKING: 'true' } });
afterAll(() => gateway[Symbol.asyncDispose]());

const done = { data: '[DONE]' };

describe('an answer costs', () => {
  const large = answerWith({ prompt_tokens: 5, completion_tokens: 1_000 });
  testRows<[string, Script, string, status: number, cost: number, charges: number]>([
    ['its usage', answer, body, 200, cost, 1],
    ['more than was reserved, in full', large, body, 200, 15_015, 1],
    // 16 input tokens, and one output token for the two bytes of `Hi`.
    ['its estimate, without usage', answerWith(), body, 200, 16 * 3 + 15, 1],
    ['nothing, if the upstream fails', json(500, { error: {} }), body, 500, 0, 0],
    ['the text of a stream', sse([piece, last, done]), streamed, 200, inputCost(streamed) + pieceCost, 1],
  ])('what it is said to', async (_, script, sent, status, micros, charges) => {
    const key = await gateway.issue();
    const charged = await chargesIn(gateway);
    if (script.length > 0) gateway.upstream.answer(script);
    const answered = await gateway.ask(key, sent);
    await answered.text();
    expect([answered.status, (await chargesIn(gateway)) - charged]).toEqual([status, charges]);
    expect(await gateway.usageOf(key)).toMatchObject(settled(micros));
  });
});

test('an answer that the caller made unusable costs its usage, or its length if there is none', async () => {
  await using translating = await startPricedGateway({ environment: { UPSTREAM_DIALECTS: 'chat' } });
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":' } }];
  const message = { role: 'assistant', content: null, tool_calls: calls };
  const deep = `{"a":${'['.repeat(10_001)}${']'.repeat(10_001)}}`;
  const jsonHead = head(200, { 'content-type': 'application/json' });
  const answers: [Script, micros: number][] = [
    [json(200, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }), cost],
    [[jsonHead, write(deep)], inputCost(body) + Math.ceil(deep.length / 3) * 15],
  ];
  for (const [script, micros] of answers) {
    const key = await translating.issue();
    translating.upstream.answer(script);
    const answered = await translating.ask(key, body, '/v1/messages');
    const budget = ((1_000_000 - micros) / 1_000_000).toString();
    expect([answered.status, answered.headers.get('x-svc-budget-remaining')]).toEqual([502, budget]);
    expect(await translating.usageOf(key)).toMatchObject(settled(micros));
  }
});

describe('tool arguments and signatures cost as much as text', () => {
  const written = 'x'.repeat(30);
  const named = { name: 'look', arguments: written };
  const tool = { index: 0, id: 'call_1', type: 'function', function: named };
  const custom = { index: 0, id: 'call_1', type: 'custom', custom: { name: 'look', input: written } };
  type Events = Parameters<typeof sse>[0];
  const inChat = (delta: object): Events => [
    chunk({ choices: [{ index: 0, delta, finish_reason: null }] }),
    last,
    done,
  ];
  const event = (type: string, more: object = {}) => ({ event: type, data: { type, ...more } });
  const inMessages = (delta: object): Events => [
    event('content_block_delta', { index: 0, delta }),
    event('message_stop'),
  ];
  const inResponses = (...events: readonly { readonly type: string }[]): Events => [
    ...events.map(({ type, ...more }) => event(type, { output_index: 0, sequence_number: 0, ...more })),
    event('response.completed', { response: { object: 'response', status: 'completed', output: [] } }),
  ];
  const args = 'response.function_call_arguments';
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', ...named };
  const asked = { model: 'svc', stream: true, max_tokens: 100, messages: [] };
  const input = { model: 'svc', stream: true, max_output_tokens: 100, input: 'x' };
  const inputDelta = { type: 'response.custom_tool_call_input.delta', delta: written };
  const repeated = [
    { type: `${args}.delta`, delta: written },
    { type: `${args}.done`, arguments: written },
    { type: 'response.output_item.done', item: call },
  ];

  testRows<[string, string, object, Events]>([
    ['a tool of chat', path, asked, inChat({ tool_calls: [tool] })],
    ['a custom tool of chat', path, asked, inChat({ tool_calls: [custom] })],
    ['the older call of chat', path, asked, inChat({ function_call: named })],
    ['a tool of messages', '/v1/messages', asked, inMessages({ type: 'input_json_delta', partial_json: written })],
    ['signed thinking', '/v1/messages', asked, inMessages({ type: 'thinking_delta', thinking: written })],
    ['a custom tool of responses', '/v1/responses', input, inResponses(inputDelta)],
    ['deltas that are repeated as a whole', '/v1/responses', input, inResponses(...repeated)],
  ])('in a stream without usage', async (_, at, sent, events) => {
    const key = await gateway.issue();
    gateway.upstream.answer(sse(events));
    await (await gateway.ask(key, sent, at)).text();
    expect(await gateway.usageOf(key)).toMatchObject(settled(inputCost(JSON.stringify(sent)) + pieceCost));
  });

  const plain = { stream: false };
  testRows<[string, string, object, object]>([
    [
      ...(['chat', path, { ...asked, ...plain }] as const),
      { id: 'c', choices: [{ index: 0, message: { tool_calls: [tool] }, finish_reason: 'tool_calls' }] },
    ],
    [
      ...(['messages', '/v1/messages', { ...asked, ...plain }] as const),
      { type: 'message', content: [{ type: 'tool_use', id: 't', name: 'look', input: { q: 'x'.repeat(22) } }] },
    ],
    ['responses', '/v1/responses', { ...input, ...plain }, { object: 'response', output: [call] }],
  ])('in a whole answer without usage', async (_, at, sent, whole) => {
    const key = await gateway.issue();
    gateway.upstream.answer(json(200, whole));
    await (await gateway.ask(key, sent, at)).text();
    expect(await gateway.usageOf(key)).toMatchObject(settled(inputCost(JSON.stringify(sent)) + pieceCost));
  });
});

test('a settlement that the store never answers is logged, and the reservation stands', async () => {
  await using watched = await startPricedGateway({
    spoilStore: ({ body: sent }) => (sent.includes('attribute_exists(#reservation)') ? 'request lost' : undefined),
  });
  const key = await watched.issue();
  watched.upstream.answer(answer);
  const answered = await watched.ask(key);
  expect(answered.status).toBe(200);
  const lines = () => watched.log.filter(({ message }) => message === 'budget left standing');
  await waitUntil(() => lines().length > 0, 'the settlement is given up');
  expect(lines()).toMatchObject([{ requestId: answered.headers.get('x-request-id'), BudgetLeftStanding: 1 }]);
  expect(await watched.usageOf(key)).toMatchObject({ budget: { spent: '0.00', reserved: '0.00156' } });
});

test('the log says once per window that four fifths of a budget are spent, even with concurrent requests', async () => {
  const clock = { time: Date.UTC(2026, 5, 30, 22) };
  const MEMBER_BUDGET = '0.000499';
  await using timed = await startPricedGateway({ now: () => clock.time, environment: { MEMBER_BUDGET } });
  timed.upstream.otherwise(answerWith({ prompt_tokens: 0, completion_tokens: 1 }));
  const own = await timed.issue(1_000, { member: 'own' });
  const shared = await timed.issueKey({ member: 'shared' });
  const ask = async (key: string, times: number) => {
    for (let count = 0; count < times; count += 1) await timed.ask(key, body.replace('100', '2'));
  };
  const said = () => timed.log.filter(({ message }) => message === 'budget nearly spent');
  // Each costs 60, so the 14th exceeds 800, and the 7th 400.
  await ask(own, 12);
  expect(said()).toEqual([]);
  await Promise.all([ask(own, 1), ask(own, 1), ask(own, 1)]);
  const id = expect.stringMatching(/^key_/);
  const ofOwn = { key: id, window: 'month', limit: 0.001, BudgetsNearlySpent: 1 };
  await waitUntil(() => said().length > 0, 'the budget is nearly spent');
  expect(said()).toMatchObject([ofOwn]);
  await ask(shared, 8);
  await waitUntil(() => said().length > 1, 'the shared one is, too');
  expect(said()).toMatchObject([ofOwn, { limit: 0.000499, spent: expect.any(Number) }]);
  expect(said()[1]).not.toHaveProperty('key');
  clock.time += 7_200_000;
  await ask(own, 14);
  await waitUntil(() => said().length > 2, 'so is that of the next month');
  expect(said()).toHaveLength(3);
});

test.each(['function-url', 'web'] as const)(
  'no answer waits for its settlement, but the process does (%s)',
  async (engine) => {
    const answered = Promise.withResolvers<void>();
    await using watched = await startPricedGateway({
      engine,
      spoilStore: ({ body: sent }) => (sent.includes('attribute_exists(#reservation)') ? answered.promise : undefined),
    });
    const key = await watched.issue();
    watched.upstream.answer(answer);
    const whole = await watched.ask(key);
    expect(await whole.json()).toMatchObject({ choices: [choice] });
    // As if the store had answered.
    expect(whole.headers.get('x-svc-budget-remaining')).toBe('0.99997');
    watched.upstream.answer(sse([piece, ...end]));
    expect(await (await watched.ask(key, streamed)).text()).toMatch(/DONE\]\s*$/);
    const stopping = watched.stop(60_000).then(() => 'stopped');
    expect(await Promise.race([stopping, turnEventLoop(200)])).toBeUndefined();
    answered.resolve();
    expect(await stopping).toBe('stopped');
    expect(watched.log.filter(({ tries }) => tries === 1)).toMatchObject([{ cost: 0.00003 }, { cost: 0.00003 }]);
  },
);

test('a refusal for a budget says what would fit, charges nothing, and shows what is left', async () => {
  const key = await gateway.issue(1_000);
  const refused = await gateway.post(path, body, { 'x-api-key': key, origin: 'https://page.example' });
  expect(refused.status).toBe(429);
  const { error } = (await refused.json()) as { error: { message: string; type: string } };
  expect(error).toMatchObject({ type: 'insufficient_quota' });
  // (1000 - 60) / 15 tokens
  expect(error.message).toMatch(
    /^This request may cost up to 0\.00156 USD; 0\.001 of 0\.001 USD is left until \S+Z\. With max_tokens of at most 62 it would fit\.$/,
  );
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(refused.headers.get('x-svc-remaining')).toBe('1000');
  expect(refused.headers.get('x-svc-budget-limit')).toBe('0.001');
  expect(Number(refused.headers.get('x-svc-budget-reset'))).toBeGreaterThan(0);
  expect(refused.headers.get('access-control-expose-headers')).toContain('X-Svc-Budget-Remaining');
  gateway.upstream.answer(answer);
  expect((await gateway.ask(key, body.replace('100', '62'))).status).toBe(200);
});

test.each([
  ['"max_tokens":100', 'max_tokens'],
  ['"max_completion_tokens":100', 'max_completion_tokens'],
  ['"max_tokens":1,"max_completion_tokens":100', 'max_completion_tokens and max_tokens'],
  ['"max_tokens":null', 'max_completion_tokens'],
])('a refusal of %s names what must be smaller: %s', async (limits, named) => {
  const refused = await gateway.ask(await gateway.issue(1_000), `{"model":"svc",${limits},"messages":[]}`);
  expect(await refused.text()).toMatch(new RegExp(`\\. With ${named} of at most \\d+ it would fit\\.`));
});
