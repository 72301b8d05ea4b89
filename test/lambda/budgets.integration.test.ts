import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventText, hangUp, head, json, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PRICES } from '../support/prices.ts';
import { chargesIn } from '../support/quota.ts';
import { waitUntil } from '../support/wait-until.ts';

/*
 * In millionths, one token of svc costs 3 in, 3.75 to the cache (the dearest input), and 15 out.
 */
const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '600' };
const chatPath = '/v1/chat/completions';
const body = '{"model":"svc","max_tokens":100,"messages":[]}';
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const answerWith = (usage?: object) => json(200, { id: 'c', object: 'chat.completion', choices: [choice], usage });
const usage = { prompt_tokens: 5, completion_tokens: 1 };
/** 5 × 3 + 1 × 15. */
const cost = 30;

const micros = (amount: string | null) => Math.round(Number(amount) * 1_000_000);
const leftIn = ({ headers }: Response) => micros(headers.get('x-svc-budget-remaining'));

/** What the caller has left, read for free. */
async function leftOf(gateway: TestGateway, key: string): Promise<number> {
  return leftIn(await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } }));
}

const issue = (gateway: TestGateway, budget: number, more: object = {}) =>
  gateway.issueKey({ budget, budgetWindow: 'month', ...more });

describe('what an answer costs', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const eventHead = head(200, { 'content-type': 'text/event-stream' });
  const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', ...more } });
  const piece = chunk({ choices: [{ index: 0, delta: { content: 'x'.repeat(30) }, finish_reason: null }] });
  const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const count = chunk({ choices: [], usage });

  /** The status, what it cost, how many requests were charged, and what the client read. */
  async function spend(script: Script | undefined, sent: string = body, path = chatPath) {
    const key = await issue(gateway, 1_000_000);
    const charged = await chargesIn(gateway);
    if (script) gateway.upstream.answer(script);
    const answer = await gateway.post(path, sent, { 'x-api-key': key });
    const read = await answer.text();
    const spent = 1_000_000 - (await leftOf(gateway, key));
    return { status: answer.status, spent, charges: (await chargesIn(gateway)) - charged, read };
  }
  const streamed = body.replace('}', ',"stream":true}');
  /** 60 bytes, 20 tokens. */
  const inputOfStream = Math.ceil(streamed.length / 3) * 3;

  test.each<[string, Script | undefined, string, { status: number; spent: number; charges: number }]>([
    ['its usage', answerWith(usage), body, { status: 200, spent: cost, charges: 1 }],
    [
      'more than was reserved, in full',
      answerWith({ prompt_tokens: 5, completion_tokens: 1_000 }),
      body,
      { status: 200, spent: 15_015, charges: 1 },
    ],
    // 16 tokens of input, and one token for the two bytes of `Hi`.
    ['its estimate, without usage', answerWith(), body, { status: 200, spent: 16 * 3 + 15, charges: 1 }],
    ['nothing, if the body is refused', undefined, '{"model":"unknown"}', { status: 400, spent: 0, charges: 1 }],
    ['nothing, if the upstream refuses it', json(400, { error: {} }), body, { status: 400, spent: 0, charges: 1 }],
    ['nothing, if the upstream fails', json(500, { error: {} }), body, { status: 500, spent: 0, charges: 0 }],
    [
      'nothing, if the answer is cut',
      [eventHead, write(eventText(piece)), hangUp],
      streamed,
      { status: 200, spent: 0, charges: 0 },
    ],
    [
      'the usage of a stream',
      sse([piece, last, count, { data: '[DONE]' }]),
      streamed,
      { status: 200, spent: cost, charges: 1 },
    ],
    [
      'the text of a stream',
      sse([piece, last, { data: '[DONE]' }]),
      streamed,
      { status: 200, spent: inputOfStream + 150, charges: 1 },
    ],
  ])('%s', async (_, script, sent, expected) => {
    expect(await spend(script, sent)).toMatchObject(expected);
  });
});

test('a client that leaves a stream pays for what has come, or for its estimate', async () => {
  await using gateway = await startTestGateway({ environment, engine: 'web' });
  const key = await issue(gateway, 1_000_000);
  const said = { data: { id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(30) } }] } };
  gateway.upstream.answer([head(200, { 'content-type': 'text/event-stream' }), write(eventText(said)), silence]);
  const streamed = body.replace('}', ',"stream":true}');
  const outgoing = httpRequest(gateway.url + chatPath, {
    ...{ method: 'POST', agent: false },
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  outgoing.on('error', () => {});
  outgoing.on('response', (response) => response.once('data', () => outgoing.destroy()));
  outgoing.end(streamed);
  await waitUntil(() => gateway.log.some(({ tries }) => tries !== undefined), 'the line of the request');
  // 60 bytes are 20 tokens, and 30 bytes of text are 10.
  const inputTokens = Math.ceil(streamed.length / 3);
  expect(await leftOf(gateway, key)).toBe(1_000_000 - inputTokens * 3 - 150);
});

describe('a refusal', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('for a budget says what would fit, charges nothing, and shows what is left', async () => {
    const key = await issue(gateway, 1_000);
    const answer = await gateway.post(chatPath, body, { 'x-api-key': key, origin: 'https://page.example' });
    expect(answer.status).toBe(429);
    const { error } = (await answer.json()) as { error: { message: string; type: string } };
    expect(error).toMatchObject({ type: 'insufficient_quota' });
    // (1000 - 60) / 15 tokens
    expect(error.message).toMatch(
      /^This request may cost up to 0\.00156 USD; 0\.001 of 0\.001 USD is left until \S+Z\. With max_completion_tokens of at most 62 it would fit\.$/,
    );
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.headers.get('x-svc-remaining')).toBe('1000');
    expect(answer.headers.get('x-svc-budget-limit')).toBe('0.001');
    expect(Number(answer.headers.get('x-svc-budget-reset'))).toBeGreaterThan(0);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Svc-Budget-Remaining');
    gateway.upstream.answer(answerWith(usage));
    expect((await gateway.post(chatPath, body.replace('100', '62'), { 'x-api-key': key })).status).toBe(200);
  });

  test('of a model that the key may not use is a 403 before anything is charged, in each dialect', async () => {
    const key = await gateway.issueKey({ models: ['svc-vision'], limit: 0 });
    for (const path of [chatPath, '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']) {
      const answer = await gateway.post(
        path,
        { model: 'opus', messages: [], input: 'x', max_tokens: 1 },
        { 'x-api-key': key },
      );
      expect([path, answer.status, answer.headers.get('x-svc-error')]).toEqual([path, 403, 'model_not_allowed']);
    }
    const list = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
    expect((await list.json()) as object).toMatchObject({ data: [{ id: 'svc-vision' }] });
    const other = await fetch(`${gateway.url}/v1/models/svc`, { headers: { 'x-api-key': key } });
    expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('The model is svc-vision')]);
  });
});

test('what the deployment may spend a day is refused beyond it, before the charge', async () => {
  const clock = { time: Date.UTC(2026, 5, 15, 12) };
  await using gateway = await startTestGateway({
    environment: { ...environment, SPEND_LIMIT: '0.00005', GUEST_LIMIT: '1000' },
    now: () => clock.time,
  });
  gateway.upstream.otherwise(answerWith(usage));
  const ask = () => gateway.post(chatPath, body, { 'x-api-key': 'guest' });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  clock.time += 10_001;
  const charged = await chargesIn(gateway);
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-should-retry')]).toEqual([
    ...[503, String(12 * 3_600 - 10), 'false'],
  ]);
  expect(await chargesIn(gateway)).toBe(charged);
  clock.time += 86_400_000;
  expect((await ask()).status).toBe(200);
});

describe('GET /v1/usage', () => {
  const noon = Date.UTC(2026, 5, 15, 12);
  const read = async (gateway: TestGateway, key: string) => {
    const answer = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } });
    expect(answer.status).toBe(200);
    return answer.json();
  };

  test('tells what is spent, reserved and left, and what of it was lost with its process', async () => {
    const clock = { time: noon };
    await using gateway = await startTestGateway({ environment, now: () => clock.time });
    const key = await issue(gateway, 10_000, { label: 'ci', models: ['svc'], burst: 30 });
    const ask = () => gateway.post(chatPath, body, { 'x-api-key': key });
    gateway.upstream.answer(answerWith(usage), [silence]);
    await ask();
    const waiting = ask();
    await gateway.upstream.arrival(1);
    const budget = {
      ...{ currency: 'USD', window: 'month', limit: '0.01', spent: '0.00003', reserved: '0.00156', unsettled: '0.00' },
      ...{ remaining: '0.00841', resets_at: '2026-07-01T00:00:00.000Z' },
    };
    expect(await read(gateway, key)).toEqual({
      object: 'usage',
      requests: { limit: 1_000, used: 2, remaining: 998, resets_at: '2026-06-16T00:00:00.000Z' },
      burst: { limit: 30 },
      budget,
      key: { id: expect.stringMatching(/^key_/), label: 'ci', expires_at: null, models: ['svc'] },
    });
    clock.time += 3_600_000;
    const lost = { budget: { ...budget, reserved: '0.00', unsettled: '0.00156' } };
    expect(await read(gateway, key)).toMatchObject(lost);
    waiting.catch(() => {});
  });

  test('is for guests too', async () => {
    await using gateway = await startTestGateway();
    expect(await read(gateway, 'guest')).toEqual({
      object: 'usage',
      requests: { limit: 3, used: 0, remaining: 3, resets_at: null },
      burst: { limit: 20 },
      ...{ budget: null, key: null },
    });
  });
});
