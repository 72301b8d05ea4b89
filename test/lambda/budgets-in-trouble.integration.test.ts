import { request as httpRequest } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventText, head, json, silence, sse, write } from '../../local/upstream/script.ts';
import { createTestCaller } from '../support/dynamodb.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PRICES } from '../support/prices.ts';
import { type StoreProxy, startStoreProxy } from '../support/store-proxy.ts';
import { waitUntil } from '../support/wait-until.ts';

/* In millionths, one token of svc costs 3 in, 3.75 in a reservation, and 15 out; of svc-vision 1 in and 4 out. */
const environment = { PRICES, MEMBER_LIMIT: '1000', BURST_LIMIT: '600' };
const path = '/v1/chat/completions';
const body = '{"model":"svc","max_tokens":100,"messages":[]}';
const streamed = body.replace('}', ',"stream":true}');
const inputTokens = (sent: string) => Math.ceil(sent.length / 3);
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const answer = json(200, { choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 1 } });
/** 5 × 3 + 1 × 15. */
const cost = 30;
const chunk = (more: object) => ({ data: { id: 'c', object: 'chat.completion.chunk', ...more } });
const piece = chunk({ choices: [{ index: 0, delta: { content: 'x'.repeat(30) }, finish_reason: null }] });
const eventHead = head(200, { 'content-type': 'text/event-stream' });

const issue = (gateway: TestGateway, more: object = { budget: 1_000_000, budgetWindow: 'month' }) =>
  gateway.issueKey(more);

async function usageOf(gateway: TestGateway, key: string) {
  const read = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key } });
  return (await read.json()) as { readonly budget: Readonly<Record<string, string>> };
}

const settled = (spent: string) => ({ budget: { spent, reserved: '0.00', unsettled: '0.00' } });
const amount = (micros: number) => (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
const ended = (gateway: TestGateway) =>
  waitUntil(() => gateway.log.some(({ message, tries }) => message === 'answered' && tries !== undefined), 'its line');

test('a stream that REQUEST_TIMEOUT cuts costs what had come of it', async () => {
  await using gateway = await startTestGateway({ environment: { ...environment, REQUEST_TIMEOUT: '1' } });
  const key = await issue(gateway);
  gateway.upstream.answer([eventHead, write(eventText(piece)), silence]);
  expect(await (await gateway.post(path, streamed, { 'x-api-key': key })).text()).toContain('upstream_timeout');
  expect(await usageOf(gateway, key)).toMatchObject(settled(amount(inputTokens(streamed) * 3 + 10 * 15)));
});

test('a client that leaves before a plain answer pays for the input', async () => {
  await using gateway = await startTestGateway({ environment, engine: 'web' });
  const key = await issue(gateway);
  gateway.upstream.answer([silence]);
  const outgoing = httpRequest(gateway.url + path, { method: 'POST', agent: false, headers: { 'x-api-key': key } });
  outgoing.on('error', () => {}).end(body);
  await gateway.upstream.arrival(0);
  outgoing.destroy();
  await ended(gateway);
  expect(await usageOf(gateway, key)).toMatchObject(settled(amount(inputTokens(body) * 3)));
});

test('a slow reader pays once, when the stream has ended', async () => {
  await using gateway = await startTestGateway({ environment, engine: 'web' });
  const key = await issue(gateway);
  const long = chunk({ choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) }, finish_reason: null }] });
  const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const count = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 1 } });
  gateway.upstream.answer(sse([...Array(300).fill(long), last, count, { data: '[DONE]' }]));
  const slow = await gateway.post(path, streamed, { 'x-api-key': key });
  const reader = slow.body?.getReader();
  await reader?.read();
  expect(await usageOf(gateway, key)).toMatchObject({ budget: { spent: '0.00', reserved: '0.001575' } });
  while ((await reader?.read())?.done === false);
  await ended(gateway);
  expect(await usageOf(gateway, key)).toMatchObject(settled(amount(cost)));
});

/** A gateway whose writes to its counters can be seen and spoilt. */
async function startWatched(more: Readonly<Record<string, string>> = {}) {
  const store: { proxy?: StoreProxy } = {};
  const gateway = await startTestGateway({
    environment: { ...environment, ...more },
    reachStore: async (endpoint) => {
      store.proxy = await startStoreProxy(endpoint);
      return createTestCaller(store.proxy.endpoint);
    },
  });
  const { proxy } = store;
  if (!proxy) throw new Error('no proxy was started');
  const writes = () => proxy.operations.filter(({ name }) => name === 'UpdateItem');
  const close = async () => {
    await gateway[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { gateway, proxy, writes, [Symbol.asyncDispose]: close };
}

test('a request costs one write, and one more with a budget, also if it moves on to another upstream', async () => {
  await using second = await startFakeUpstream();
  await using watched = await startWatched({
    UPSTREAM_2_BASE_URL: second.url,
    UPSTREAM_2_TEXT_MODEL: 'acmecorp/thunder-8b',
    UPSTREAM_2_VISION_MODEL: 'acmecorp/thunder-8b-eyes',
    UPSTREAM_2_API_KEYS: 'upstream-key-two',
  });
  const { gateway, writes } = watched;
  const keys = [await issue(gateway, {}), await issue(gateway)];
  const counts: number[] = [];
  for (const key of keys) {
    gateway.upstream.answer(json(500, {}));
    second.answer(answer);
    const before = writes().length;
    expect((await gateway.post(path, body, { 'x-api-key': key })).status).toBe(200);
    counts.push(writes().length - before);
  }
  expect(counts).toEqual([1, 2]);
  expect(await usageOf(gateway, keys[1] ?? '')).toMatchObject(settled(amount(cost)));
});

test('a settlement that the store never answers is logged, and what was reserved stands', async () => {
  await using watched = await startWatched();
  const { gateway, proxy } = watched;
  const key = await issue(gateway);
  proxy.spoil(({ body: sent }) => (sent.includes('attribute_exists(#reservation)') ? 'request lost' : undefined));
  gateway.upstream.answer(answer);
  const answered = await gateway.post(path, body, { 'x-api-key': key });
  expect(answered.status).toBe(200);
  const lines = gateway.log.filter(({ message }) => message === 'budget left standing');
  expect(lines).toMatchObject([{ requestId: answered.headers.get('x-request-id'), BudgetLeftStanding: 1 }]);
  expect(await usageOf(gateway, key)).toMatchObject({ budget: { spent: '0.00', reserved: '0.00156' } });
});

test('the share of SPEND_LIMIT is measured on its way to the end, and at it', async () => {
  const clock = { time: Date.UTC(2026, 5, 15, 12) };
  await using gateway = await startTestGateway({
    environment: { ...environment, SPEND_LIMIT: '0.00015' },
    now: () => clock.time,
  });
  const key = await issue(gateway, {});
  gateway.upstream.otherwise(answer);
  const ask = async () => {
    clock.time += 10_001;
    return (await gateway.post(path, body, { 'x-api-key': key })).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 6; count += 1) statuses.push(await ask());
  expect(statuses).toEqual([200, 200, 200, 200, 200, 503]);
  expect(gateway.log.flatMap(({ SpendShare }) => SpendShare ?? [])).toEqual([0, 20, 40, 60, 80, 100]);
});

test('a member’s keys share its budget, apart from one with a budget of its own', async () => {
  await using gateway = await startTestGateway({ environment: { ...environment, MEMBER_BUDGET: '0.002' } });
  gateway.upstream.otherwise(json(200, { choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 50 } }));
  const own = await issue(gateway);
  const keys = [await issue(gateway, {}), await issue(gateway, {}), own, own];
  const statuses: number[] = [];
  for (const key of keys) statuses.push((await gateway.post(path, body, { 'x-api-key': key })).status);
  expect(statuses).toEqual([200, 429, 200, 200]);
});

describe('what a request reserves', () => {
  const part = (type: string, url: string) => [{ role: 'user', content: [{ type, [type]: { url } }] }];
  const dataUrl = `data:video/mp4;base64,${'A'.repeat(60_000)}`;
  const text = (content: string) => [{ role: 'user', content }];
  const vision = (messages: object) => ({ model: 'svc-vision', max_tokens: 1, messages });

  test.each<[string, object, number]>([
    ['an image is 2,000 tokens, however long', vision(part('image_url', dataUrl)), 2_000],
    ['a video is a token for each ten bytes', vision(part('video_url', dataUrl)), Math.ceil(dataUrl.length / 10)],
    ['a text that looks like a file is text', vision(text(dataUrl)), Math.ceil(dataUrl.length / 3)],
  ])('%s', async (_, sent, tokens) => {
    await using gateway = await startTestGateway({ environment });
    const key = await issue(gateway);
    gateway.upstream.answer([silence]);
    gateway.post(path, sent, { 'x-api-key': key }).catch(() => {});
    await gateway.upstream.arrival(0);
    const { budget } = await usageOf(gateway, key);
    const reserved = Math.round(Number(budget.reserved) * 1_000_000);
    const around = JSON.stringify(sent).length - dataUrl.length;
    expect(reserved - 4).toBeGreaterThanOrEqual(tokens);
    expect(reserved - 4).toBeLessThanOrEqual(tokens + Math.ceil(around / 3));
  });

  test.each<[string, string, number]>([
    ['a huge limit', '"max_tokens":1e300', 429],
    ['a huge number of choices', '"max_tokens":1,"n":1e300', 429],
    ['a fraction', '"max_tokens":0.5', 429],
    ['the smaller of two limits', '"max_tokens":1,"max_completion_tokens":4096', 429],
    ['no choices', '"max_tokens":1,"n":0', 400],
    ['a limit that is repeated', '"max_tokens":4096,"max_tokens":1', 400],
    ['a limit in another case', '"max_tokens":1,"MAX_TOKENS":4096', 400],
  ])('is not talked down by %s', async (_, members, status) => {
    await using gateway = await startTestGateway({ environment });
    const key = await issue(gateway, { budget: 1_600, budgetWindow: 'day' });
    const sent = body.replace('"max_tokens":100', members);
    expect((await gateway.post(path, sent, { 'x-api-key': key })).status).toBe(status);
    expect(gateway.upstream.requests).toEqual([]);
  });
});
