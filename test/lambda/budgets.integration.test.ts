import { request as httpRequest } from 'node:http';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import { formatAmount } from '../../lambda/budget/money.ts';
import { eventText, hangUp, head, json, type Script, silence, sse, until, write } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PRICES } from '../support/prices.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';
import { turnEventLoop, waitUntil } from '../support/wait-until.ts';

/* In millionths, one token of svc costs 3 in, 3.75 to the cache (the dearest input, which is reserved), and 15 out. */
const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '600' };
const path = '/v1/chat/completions';
const body = '{"model":"svc","max_tokens":100,"messages":[]}';
const streamed = body.replace('}', ',"stream":true}');
const inputCost = (sent: string) => Math.ceil(sent.length / 3) * 3;
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const answerWith = (usage?: object) => json(200, { id: 'c', object: 'chat.completion', choices: [choice], usage });
const usage = { prompt_tokens: 5, completion_tokens: 1 };
const answer = answerWith(usage);
/** 5 × 3 + 1 × 15. */
const cost = 30;
const eventHead = head(200, { 'content-type': 'text/event-stream' });
const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', ...more } });
const text = (length: number) =>
  chunk({ choices: [{ index: 0, delta: { content: 'x'.repeat(length) }, finish_reason: null }] });
const piece = text(30);
/** 30 bytes of text are taken for 10 tokens. */
const pieceCost = 10 * 15;
const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const end = [last, chunk({ choices: [], usage }), { data: '[DONE]' }];

type Options = NonNullable<Parameters<typeof startTestGateway>[0]>;

/** A gateway with prices, and what its callers of budgets do. */
async function start({ environment: more, ...options }: Options = {}) {
  const gateway = await startTestGateway({ environment: { ...environment, ...more }, ...options });
  return Object.assign(gateway, {
    issue: (budget = 1_000_000, own: object = {}) => gateway.issueKey({ budget, budgetWindow: 'month', ...own }),
    ask: (key: string, sent: string | object = body, at = path) => gateway.post(at, sent, { 'x-api-key': key }),
    async usageOf(key: string) {
      const read = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } });
      expect(read.status).toBe(200);
      return (await read.json()) as { readonly budget: Readonly<Record<string, string>> };
    },
    ended: () => waitUntil(() => gateway.log.some(({ tries }) => tries !== undefined), 'the line of the request'),
  });
}

const settled = (micros: number) => {
  const spent = (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
  return { budget: { spent, reserved: '0.00', unsettled: '0.00' } };
};

const gateway = await start();
afterAll(() => gateway[Symbol.asyncDispose]());

describe('an answer costs', () => {
  const done = { data: '[DONE]' };
  const broken: Script = [eventHead, write(eventText(piece)), hangUp];
  const large = answerWith({ prompt_tokens: 5, completion_tokens: 1_000 });
  testRows<[string, Script, string, status: number, cost: number, charges: number]>([
    ['its usage', answer, body, 200, cost, 1],
    ['more than was reserved, in full', large, body, 200, 15_015, 1],
    // 16 tokens of input, and one token for the two bytes of `Hi`.
    ['its estimate, without usage', answerWith(), body, 200, 16 * 3 + 15, 1],
    ['nothing, if the body is refused', [], '{"model":"unknown"}', 400, 0, 1],
    ['nothing, if the upstream refuses it', json(400, { error: {} }), body, 400, 0, 1],
    ['nothing, if the upstream fails', json(500, { error: {} }), body, 500, 0, 0],
    ['nothing, if the answer is cut', broken, streamed, 200, 0, 0],
    ['the usage of a stream', sse([piece, ...end]), streamed, 200, cost, 1],
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

  test('what had come of a stream that REQUEST_TIMEOUT cuts', async () => {
    await using hurried = await start({ environment: { REQUEST_TIMEOUT: '1' } });
    const key = await hurried.issue();
    hurried.upstream.answer([eventHead, write(eventText(piece)), silence]);
    expect(await (await hurried.ask(key, streamed)).text()).toContain('upstream_timeout');
    expect(await hurried.usageOf(key)).toMatchObject(settled(inputCost(streamed) + pieceCost));
  });
});

describe('who leaves', () => {
  /** As where the model thinks, which nobody can count but the upstream. */
  const dear = { prompt_tokens: 50, completion_tokens: 900 };
  const dearCost = 50 * 3 + 900 * 15;
  const dearEnd = [last, chunk({ choices: [], usage: dear }), { data: '[DONE]' }].map(eventText).join('');

  const lineOf = ({ log }: Pick<TestGateway, 'log'>) => log.find(({ end }) => end === 'client_gone');

  /** Asks, and leaves as soon as the upstream has the request or the first of the answer has come; `goOn` lets the rest come. */
  async function leave(
    web: Awaited<ReturnType<typeof start>>,
    key: string,
    sent: string,
    begun: Script,
    rest: Script,
    at = path,
  ) {
    const left = Promise.withResolvers<void>();
    web.upstream.answer([...begun, until(left.promise), ...rest]);
    const gone = Promise.withResolvers<void>();
    const outgoing = httpRequest(web.url + at, { method: 'POST', agent: false, headers: { 'x-api-key': key } });
    outgoing.on('error', () => {}).on('response', (answered) => answered.once('data', gone.resolve));
    outgoing.end(sent);
    const asked = await web.upstream.arrival(web.upstream.requests.length);
    if (begun.length > 0) await gone.promise;
    outgoing.destroy();
    // The gateway gets this after it has learned that the client left.
    await web.usageOf(key);
    const goOn = async () => {
      left.resolve();
      return waitUntil(() => lineOf(web), 'the line of the request');
    };
    return { asked, goOn };
  }

  const begun = [eventHead, write(eventText(piece))];
  const parts = 'the larger of what was counted and estimated';
  testRows<[string, string, Script, Script, number]>([
    ['a stream pays its usage', streamed, begun, [write(dearEnd)], dearCost],
    ['before a stream pays its usage', streamed, [], [...begun, write(dearEnd)], dearCost],
    ['before a plain answer pays its usage', body, [], answerWith(dear), dearCost],
    [`a stream that breaks pays ${parts}`, streamed, begun, [hangUp], inputCost(streamed) + pieceCost],
    ['what is refused pays nothing', body, [], json(400, { error: {} }), 0],
    ['a stream that is refused pays nothing', streamed, [], json(400, { error: {} }), 0],
    ['what fails pays its prompt', body, [], json(500, { error: {} }), inputCost(body)],
  ])('with a budget, on either engine', async (_, sent, before, after, micros) => {
    for (const engine of ['web', 'function-url'] as const) {
      await using web = await start({ engine });
      const key = await web.issue();
      const { goOn } = await leave(web, key, sent, before, after);
      const line = await goOn();
      expect([engine, await chargesIn(web), await web.usageOf(key)]).toMatchObject([engine, 1, settled(micros)]);
      expect([line.cost ?? 0, line.refunded, web.faults]).toEqual([micros / 1_000_000, false, []]);
    }
  });

  testRows(['/v1/messages', '/v1/responses'])('with a budget, where the answer is translated', async (at) => {
    await using web = await start({ engine: 'web', environment: { UPSTREAM_DIALECTS: 'chat' } });
    const key = await web.issue();
    const sent = JSON.stringify({ model: 'svc', stream: true, max_tokens: 9, messages: [], input: 'x' });
    const { goOn } = await leave(web, key, sent, begun, [write(dearEnd)], at);
    await goOn();
    expect(await web.usageOf(key)).toMatchObject(settled(dearCost));
  });

  const complete = [eventHead, write(eventText(piece) + eventText(last))];
  const unread = [write(eventText(piece)), silence];
  testRows<[string, Script, Script, number, string]>([
    ['pays parts, and the answer is cut', begun, unread, inputCost(streamed) + pieceCost, 'aborted'],
    ['pays its usage where only that is missing', complete, [write(dearEnd)], dearCost, 'answered'],
  ])('without a budget', async (_, before, after, micros, how) => {
    await using web = await start({ engine: 'web' });
    const { goOn, asked } = await leave(web, await web.issueKey(), streamed, before, after);
    expect([(await goOn()).cost, await asked.closed]).toEqual([micros / 1_000_000, how]);
  });

  testRows<[string, string, Script, Script, number]>([
    ['a stream', streamed, begun, [write(dearEnd)], inputCost(streamed) + pieceCost],
    ['a stream that has not begun', streamed, [], [...begun, write(dearEnd)], inputCost(streamed)],
    ['a plain answer', body, [], answerWith(dear), inputCost(body)],
  ])('is waited for when the process stops, as long as any other', async (_, sent, before, after, cut) => {
    for (const engine of ['web', 'function-url'] as const) {
      await using web = await start({ engine });
      const { goOn } = await leave(web, await web.issue(), sent, before, after);
      const stopped = web.stop(30_000);
      void goOn();
      await stopped;
      expect([engine, lineOf(web)?.cost]).toEqual([engine, dearCost / 1_000_000]);
    }
    await using hurried = await start({ engine: 'web' });
    await leave(hurried, await hurried.issue(), sent, before, after);
    await hurried.stop(0);
    expect(lineOf(hurried)).toMatchObject({ cost: cut / 1_000_000, reason: 'stopping', refunded: false });
  });
});

describe('a zero is no count', () => {
  const event = (data: { readonly type: string }) => ({ event: data.type, data });
  const none = { input_tokens: 0, output_tokens: 0 };
  const message = { id: 'm', type: 'message', role: 'assistant', content: [], stop_reason: null, usage: none };
  const hello = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(30) } };
  const counted = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } };
  const stream = sse([
    ...[event({ type: 'message_start', ...{ message } }), event(hello), event(counted)],
    event({ type: 'message_stop' }),
  ]);
  const zeros = answerWith({ prompt_tokens: 0, completion_tokens: 0 });

  testRows<[string, Script, string, string, number]>([
    ['of a prompt', stream, '/v1/messages', streamed, inputCost(streamed) + 7 * 15],
    ['of anything', zeros, path, body, inputCost(body) + 15],
  ])('where there was text', async (_, script, at, sent, micros) => {
    const key = await gateway.issue();
    gateway.upstream.answer(script);
    await (await gateway.ask(key, sent, at)).text();
    expect(await gateway.usageOf(key)).toMatchObject(settled(micros));
  });
});

describe('what the model writes for a program, or signs, costs as much as text', () => {
  const written = 'x'.repeat(30);
  const named = { name: 'look', arguments: written };
  const tool = { index: 0, id: 'call_1', type: 'function', function: named };
  const custom = { index: 0, id: 'call_1', type: 'custom', custom: { name: 'look', input: written } };
  const inChat = (delta: object) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  const event = (data: { readonly type: string }) => ({ event: data.type, data });
  const inMessages = (delta: { readonly type: string }) =>
    event({ type: 'content_block_delta', ...{ index: 0, delta } });
  const inResponses = (type: string, more: object) =>
    event({ type, ...{ output_index: 0, sequence_number: 0, ...more } });
  const args = 'response.function_call_arguments';
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', ...named };
  const thought = { type: 'thinking_delta', thinking: written };
  const asked = { model: 'svc', stream: true, max_tokens: 100, messages: [] };
  const input = { model: 'svc', stream: true, max_output_tokens: 100, input: 'x' };

  testRows<[string, string, object, readonly object[]]>([
    ['a tool of chat', path, asked, [inChat({ tool_calls: [tool] })]],
    ['a custom tool of chat', path, asked, [inChat({ tool_calls: [custom] })]],
    ['the older call of chat', path, asked, [inChat({ function_call: named })]],
    [
      'a tool of messages',
      '/v1/messages',
      asked,
      [inMessages({ type: 'input_json_delta', ...{ partial_json: written } })],
    ],
    ['signed thinking', '/v1/messages', asked, [inMessages(thought)]],
    ['a tool of responses', '/v1/responses', input, [inResponses(`${args}.delta`, { delta: written })]],
    [
      ...(['a custom tool of responses', '/v1/responses', input] as const),
      [inResponses('response.custom_tool_call_input.delta', { delta: written })],
    ],
    [
      ...(['deltas that are repeated as a whole', '/v1/responses', input] as const),
      [
        inResponses(`${args}.delta`, { delta: written }),
        inResponses(`${args}.done`, { arguments: written }),
        inResponses('response.output_item.done', { item: call }),
      ],
    ],
  ])('in a stream that is left', async (_, at, sent, events) => {
    await using web = await start({ engine: 'web', environment: { UPSTREAM_SIGNS_THINKING: 'true' } });
    const key = await web.issue();
    const all = events.map((one) => eventText(one as Parameters<typeof eventText>[0])).join('');
    const left = Promise.withResolvers<void>();
    web.upstream.answer([eventHead, write(all), until(left.promise), hangUp]);
    const controller = new AbortController();
    const body = JSON.stringify(sent);
    const answered = await fetch(web.url + at, {
      ...{ method: 'POST', headers: { 'x-api-key': key }, body, signal: controller.signal },
    });
    await answered.body?.getReader().read();
    controller.abort();
    // The gateway gets this after it has learned that the client left.
    await web.usageOf(key);
    left.resolve();
    await web.ended();
    expect(await web.usageOf(key)).toMatchObject(settled(inputCost(body) + pieceCost));
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

describe('the store', () => {
  test('gets one write a request, and one more with a budget', async () => {
    let writes = 0;
    await using watched = await start({
      spoilStore({ name }) {
        if (name === 'UpdateItem') writes += 1;
        return undefined;
      },
    });
    watched.upstream.otherwise(answer);
    for (const [caller, expected] of [
      [await watched.issueKey(), 1],
      [await watched.issue(), 2],
    ] as const) {
      const before = writes;
      expect((await watched.ask(caller)).status).toBe(200);
      await waitUntil(() => writes - before === expected, 'the settlement is sent');
    }
  });

  test('may never answer a settlement: that is logged, and what was reserved stands', async () => {
    await using watched = await start({
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
});

test('the log tells once a window that four fifths of a budget are spent, whoever asks at once', async () => {
  const clock = { time: Date.UTC(2026, 5, 30, 22) };
  const MEMBER_BUDGET = '0.00299';
  await using timed = await start({ now: () => clock.time, environment: { MEMBER_BUDGET } });
  timed.upstream.otherwise(answerWith({ prompt_tokens: 0, completion_tokens: 1 }));
  const own = await timed.issue(2_000, { member: 'own' });
  const shared = await timed.issueKey({ member: 'shared' });
  // Each costs 60, so the 27th passes 1600, and the 40th 2392.
  const said = () => timed.log.filter(({ message }) => message === 'budget nearly spent');
  for (let count = 0; count < 25; count += 1) await timed.ask(own, body.replace('100', '2'));
  expect(said()).toEqual([]);
  await Promise.all([1, 2, 3].map(() => timed.ask(own, body.replace('100', '2'))));
  const id = expect.stringMatching(/^key_/);
  const ofOwn = { key: id, window: 'month', limit: 0.002, BudgetsNearlySpent: 1 };
  await waitUntil(() => said().length > 0, 'the budget is nearly spent');
  expect(said()).toMatchObject([ofOwn]);
  for (let count = 0; count < 40; count += 1) await timed.ask(shared, body.replace('100', '2'));
  await waitUntil(() => said().length > 1, 'the shared one is, too');
  expect(said()).toMatchObject([ofOwn, { limit: 0.00299, spent: expect.any(Number) }]);
  expect(said()[1]).not.toHaveProperty('key');
  clock.time += 7_200_000;
  for (let count = 0; count < 28; count += 1) await timed.ask(own, body.replace('100', '2'));
  await waitUntil(() => said().length > 2, 'so is that of the next month');
  expect(said()).toHaveLength(3);
});

test.each(['function-url', 'web'] as const)(
  'no answer waits for its settlement, but the process does (%s)',
  async (engine) => {
    const answered = Promise.withResolvers<void>();
    await using watched = await start({
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
])('a refusal of %s names what has to be smaller: %s', async (limits, named) => {
  const refused = await gateway.ask(await gateway.issue(1_000), `{"model":"svc",${limits},"messages":[]}`);
  expect(await refused.text()).toMatch(new RegExp(`\\. With ${named} of at most \\d+ it would fit\\.`));
});

test('a model that the key may not use is a 403 before anything is charged, in each dialect', async () => {
  const key = await gateway.issueKey({ models: ['svc-vision'], limit: 0 });
  for (const at of [path, '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']) {
    const refused = await gateway.ask(key, { model: 'opus', messages: [], input: 'x', max_tokens: 1 }, at);
    expect([at, refused.status, refused.headers.get('x-svc-error')]).toEqual([at, 403, 'model_not_allowed']);
  }
  const list = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
  expect((await list.json()) as object).toMatchObject({ data: [{ id: 'svc-vision' }] });
  const other = await fetch(`${gateway.url}/v1/models/svc`, { headers: { 'x-api-key': key } });
  expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('The model is svc-vision')]);
});

testRows([
  ['models', ['svc', 'svc-vision']],
  ['fallbacks', [{ model: 'svc' }]],
  ['Route', 'fallback'],
])(
  'a field by which a router takes another model is refused to whose models or money are limited',
  async (name, value) => {
    const body = { model: 'svc', messages: [], [name]: value };
    for (const key of [await gateway.issue(1_000_000), await gateway.issueKey({ models: ['svc'] })]) {
      const refused = await gateway.ask(key, body);
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(`${name} can't be used`)]);
    }
    gateway.upstream.answer(answer);
    expect((await gateway.ask(await gateway.issueKey(), body)).status).toBe(200);
    gateway.upstream.answer(answer);
    expect((await gateway.ask(await gateway.issue(1_000_000), { ...body, [name]: null })).status).toBe(200);
  },
);

test('what the deployment may spend a day is measured on its way to the end, and refused at it, before the charge', async () => {
  const clock = { time: Date.UTC(2026, 5, 15, 12) };
  await using limited = await start({ environment: { SPEND_LIMIT: '0.00015' }, now: () => clock.time });
  const key = await limited.issueKey();
  limited.upstream.otherwise(answer);
  const ask = () => {
    clock.time += 10_001;
    return limited.ask(key);
  };
  for (let count = 0; count < 5; count += 1) expect((await ask()).status).toBe(200);
  const charged = await chargesIn(limited);
  const refused = await ask();
  expect([refused.status, ...['retry-after', 'x-should-retry'].map((name) => refused.headers.get(name))]).toEqual([
    ...[503, String(12 * 3_600 - 60), 'false'],
  ]);
  expect(await chargesIn(limited)).toBe(charged);
  expect(limited.log.flatMap(({ SpendShare }) => SpendShare ?? [])).toEqual([0, 20, 40, 60, 80, 100]);
  // The operator has asked for it, so that it is no fault of the gateway.
  expect(limited.log.at(-1)).toMatchObject({ level: 'info', reason: 'spend_limit' });
  expect(limited.log.at(-1)).not.toHaveProperty('GatewayErrors');
  const count = await limited.ask(key, { model: 'svc', messages: [] }, '/v1/messages/count_tokens');
  expect(count.status).toBe(200); // which costs nothing
  clock.time += 86_400_000;
  expect((await ask()).status).toBe(200);
});

test('what the deployment may spend counts the prompts of those without a budget, also in answers without usage', async () => {
  await using limited = await start({ environment: { SPEND_LIMIT: '1' } });
  const caller = await limited.issueKey();
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9_000)}` } };
  const sent = { model: 'svc-vision', stream: true, messages: [{ role: 'user', content: [image] }] };
  limited.upstream.otherwise(sse([piece, last, { data: '[DONE]' }]));
  for (const asked of [streamed, sent]) await (await limited.ask(caller, asked)).text();
  const bytes = JSON.stringify(sent).length - image.image_url.url.length;
  const ofImage = Math.ceil(bytes / 3) + 2_000 + 10 * 4;
  const costs = [inputCost(streamed) + pieceCost, ofImage].map((micros) => micros / 1_000_000);
  await waitUntil(() => limited.log.filter(({ cost }) => cost !== undefined).length === 2, 'both are settled');
  expect(limited.log.flatMap(({ cost }) => cost ?? [])).toEqual(costs);
});

describe('GET /v1/usage', () => {
  test('tells what is spent, reserved and left, and what of it was lost with its process', async () => {
    const clock = { time: Date.UTC(2026, 5, 15, 12) };
    await using timed = await start({ now: () => clock.time });
    const key = await timed.issue(10_000, { label: 'ci', models: ['svc'], burst: 30 });
    timed.upstream.answer(answer, [silence]);
    await timed.ask(key);
    const waiting = timed.ask(key);
    await timed.upstream.arrival(1);
    const budget = {
      ...{ currency: 'USD', window: 'month', limit: '0.01', spent: '0.00003', reserved: '0.00156', unsettled: '0.00' },
      ...{ remaining: '0.00841', resets_at: '2026-07-01T00:00:00.000Z' },
      models: [{ id: 'svc', input_tokens: 5, output_tokens: 1, spent: '0.00003' }],
    };
    expect(await timed.usageOf(key)).toEqual({
      object: 'usage',
      requests: { limit: 1_000, used: 2, remaining: 998, resets_at: '2026-06-16T00:00:00.000Z' },
      burst: { limit: 30 },
      budget,
      key: { id: expect.stringMatching(/^key_/), label: 'ci', expires_at: null, models: ['svc'] },
    });
    clock.time += 3_600_000;
    expect(await timed.usageOf(key)).toMatchObject({ budget: { ...budget, reserved: '0.00', unsettled: '0.00156' } });
    timed.upstream.answer(answer);
    const found = { requestId: (await timed.ask(key)).headers.get('x-request-id'), count: 1, reserved: 0.00156 };
    const lines = timed.log.filter(({ message }) => message === 'reservations lost');
    expect(lines).toMatchObject([{ ...found, LostReservations: 1 }]);
    waiting.catch(() => {});
  });

  test('tells by model what answers used, also where that was estimated, and forgets it with the window', async () => {
    const clock = { time: Date.UTC(2026, 5, 30, 23) };
    await using timed = await start({ now: () => clock.time });
    const key = await timed.issue();
    const vision = body.replace('"svc"', '"svc-vision"');
    timed.upstream.answer(answer, answerWith(), answer, json(400, { error: {} }));
    for (const sent of [body, body, vision, body]) await timed.ask(key, sent);
    const own = { id: 'svc', input_tokens: 5 + 16, output_tokens: 1 + 1, spent: formatAmount(cost + 16 * 3 + 15) };
    const seen = { id: 'svc-vision', input_tokens: 5, output_tokens: 1 };
    const models = [own, expect.objectContaining(seen)];
    expect(await timed.usageOf(key)).toMatchObject({ budget: { models } });
    const waits = Promise.withResolvers<void>();
    timed.upstream.answer([until(waits.promise), ...answer]);
    const late = timed.ask(key);
    await timed.upstream.arrival(4);
    clock.time += 3_600_000;
    expect(await timed.usageOf(key)).toMatchObject({ budget: { spent: '0.00', models: [] } });
    timed.upstream.answer(answer);
    await timed.ask(key);
    waits.resolve();
    expect((await late).status).toBe(200);
    const anew = { id: 'svc', input_tokens: 5, output_tokens: 1, spent: '0.00003' };
    expect(await timed.usageOf(key)).toMatchObject({ budget: { models: [anew] } });
    const { client, quotaTable: TableName } = timed.dynamoDb;
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    expect(Items.flatMap(Object.keys).filter((name) => /^t[ios]/.test(name))).toEqual(['tim678', 'tom678', 'tsm678']);
  });

  test('is for guests too', async () => {
    expect(await gateway.usageOf('guest')).toEqual({
      object: 'usage',
      requests: { limit: 3, used: 0, remaining: 3, resets_at: null },
      burst: { limit: 600 },
      ...{ budget: null, key: null },
    });
  });
});
