import { afterEach, describe, expect, test } from '@jest/globals';
import { html, json, sse } from '../../local/upstream/script.ts';
import { createTestCaller } from '../support/dynamodb.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import type { StoreProxy } from '../support/store-proxy.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const answer = json(200, { id: 'x', model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
const noon = Date.UTC(2026, 5, 15, 12, 0, 30);
const untilMidnight = String(12 * 3600 - 30);

let gateway: TestGateway;
let proxy: StoreProxy | undefined;
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  proxy = undefined;
});

const start = async (environment: Record<string, string>) => {
  gateway = await startTestGateway({ environment: { BURST_LIMIT: '1000', ...environment }, now: () => noon });
  gateway.upstream.otherwise(answer);
};
const ask = (key: string, path = '/v1/chat/completions', body: unknown = question) =>
  gateway.post(path, body, { 'x-api-key': key });
const remaining = async (key: string) =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).headers.get('x-svc-remaining');
const metricsOf = (name: string) => gateway.log.map((line) => line[name]).filter((value) => value !== undefined);

describe('a spent DAILY_LIMIT', () => {
  test('refuses in the dialect of the request, until midnight, and charges nobody', async () => {
    await start({ DAILY_LIMIT: '2' });
    const key = await gateway.issueKey();
    for (const status of [200, 200, 503]) expect((await ask(key)).status).toBe(status);
    const refused = await ask(key, '/v1/messages');
    expect(refused.status).toBe(503);
    expect(
      Object.fromEntries(
        ['retry-after', 'x-should-retry', 'x-svc-error'].map((name) => [name, refused.headers.get(name)]),
      ),
    ).toEqual({
      'retry-after': untilMidnight,
      'x-should-retry': 'false',
      'x-svc-error': 'service_unavailable',
    });
    expect(await refused.json()).toEqual({
      type: 'error',
      error: {
        type: 'overloaded_error',
        message:
          'The gateway has answered as many requests as it may on one day. This request was not charged. It starts anew at 2026-06-16T00:00:00Z.',
      },
    });
    expect(refused.headers.get('x-svc-remaining')).toBe('48');
    expect(await remaining(key)).toBe('48');
    expect(gateway.upstream.requests).toHaveLength(2);
  });

  test('comes after the caller’s own limit, whose refusals count towards none', async () => {
    await start({ DAILY_LIMIT: '5', GUEST_DAILY_LIMIT: '5' });
    const statuses = [];
    for (let index = 0; index < 5; index += 1) statuses.push((await ask('guest')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const key = await gateway.issueKey();
    expect([(await ask(key)).status, (await ask(key)).status, (await ask(key)).status]).toEqual([200, 200, 503]);
  });

  test('is named in the log, and is neither a failure of the gateway nor a refund for one', async () => {
    await start({ DAILY_LIMIT: '10', GUEST_DAILY_LIMIT: '1' });
    const key = await gateway.issueKey();
    await ask('guest');
    await ask('guest');
    await ask(key);
    expect(gateway.log.map(({ message, code, reason, refunded }) => ({ message, code, reason, refunded }))).toEqual([
      { message: 'answered', code: undefined, reason: undefined, refunded: false },
      { message: 'refused', code: 'service_unavailable', reason: 'guest_daily_limit', refunded: true },
      { message: 'answered', code: undefined, reason: undefined, refunded: false },
    ]);
    expect([metricsOf('GatewayErrors'), metricsOf('Refunds')]).toEqual([[], []]);
    expect(metricsOf('GuestDailyLimitUsed')).toEqual([100, 100]);
    expect(metricsOf('DailyLimitUsed')).toHaveLength(2);
  });
});

describe('a refunded request', () => {
  test('is refunded to every limit: a failed answer, a broken stream, a refused and refunded body', async () => {
    await start({ DAILY_LIMIT: '1', REFUND_REFUSALS: 'true' });
    const key = await gateway.issueKey();
    gateway.upstream.answer(html(500, 'down'));
    expect((await ask(key)).status).toBe(500);
    gateway.upstream.answer(sse('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'));
    expect(await (await ask(key, undefined, { ...question, stream: true })).text()).toContain('was not charged');
    expect((await ask(key, undefined, { model: 'svc', stream: 1 })).status).toBe(400);
    expect(await chargesIn(gateway)).toBe(0);
    expect([(await ask(key)).status, (await ask(key)).status]).toEqual([200, 503]);
  });

  test('token counts and models count towards no limit', async () => {
    await start({ DAILY_LIMIT: '1' });
    const key = await gateway.issueKey();
    for (let index = 0; index < 3; index += 1) {
      expect((await ask(key, '/v1/messages/count_tokens', { model: 'svc', messages: [] })).status).toBe(200);
    }
    expect((await ask(key)).status).toBe(200);
  });
});

test('without them a request costs the store one write, and one read for its key', async () => {
  const operations: string[] = [];
  gateway = await startTestGateway({
    reachStore: async (endpoint) => {
      const call = createTestCaller(endpoint);
      return (operation, ...input) => {
        operations.push(operation);
        return call(operation, ...input);
      };
    },
  });
  gateway.upstream.otherwise(answer);
  const key = await gateway.issueKey();
  await ask(key);
  await ask(key);
  await ask('guest');
  expect(operations.filter((name) => name === 'UpdateItem')).toHaveLength(3);
  // Whether the gateway is stopped, the key, and whether the guest's network is linked.
  expect(operations).toHaveLength(3 + 3);
});
