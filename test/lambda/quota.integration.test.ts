import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { html, json, sse } from '../../local/upstream/script.ts';
import { dialectNames } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { chargesIn } from '../support/quota.ts';
import { stopTimers } from '../support/stop-timers.ts';
import type { StoreOperation } from '../support/store-proxy.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const answer = json(200, { id: 'x', model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
/** In the middle of a minute of the middle of a day, so that no window ends while a test runs. */
const noon = Date.UTC(2026, 5, 15, 12, 0, 30);
const untilMidnight = String(12 * 3600 - 30);

type Options = NonNullable<Parameters<typeof startTestGateway>[0]>;

async function start(environment: Record<string, string> = {}, options: Options = {}) {
  const gateway = await startTestGateway({ environment, now: () => noon, ...options });
  gateway.upstream.otherwise(answer);
  const ask = (key = 'guest', path = wire.chat.path, body: unknown = question) =>
    gateway.post(path, body, { 'x-api-key': key });
  return Object.assign(gateway, {
    ask,
    async statuses(count: number, key?: string, path?: string) {
      const statuses: number[] = [];
      for (let index = 0; index < count; index += 1) statuses.push((await ask(key, path)).status);
      return statuses;
    },
    async remaining(key = 'guest') {
      const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
      return response.headers.get('x-svc-remaining');
    },
  });
}

const headersOf = (response: Response, ...names: string[]) => names.map((name) => response.headers.get(name));
const refusalOf = async (response: Response) => (await response.json()) as { error: { type: string; message: string } };
const countTokens = '/v1/messages/count_tokens';

describe('the quota of a caller', () => {
  test('of 100 guest requests at once from one network exactly 3 pass', async () => {
    await using gateway = await start();
    // Parallel requests would mistake their own queue for a slow store.
    using _timers = stopTimers();
    const responses = await Promise.all(Array.from({ length: 100 }, () => gateway.ask()));
    const codes = responses.map(({ headers }) => headers.get('x-svc-error') ?? 'none').sort();
    expect(codes).toEqual([...Array(3).fill('none'), ...Array(97).fill('quota_exceeded')]);
    expect([gateway.upstream.requests.length, await gateway.remaining()]).toEqual([3, '0']);
  });

  test('the 21st request of a minute is rate limited and not charged; tokens are counted in a burst of their own', async () => {
    await using gateway = await start();
    const key = await gateway.issueKey();
    for (const path of [countTokens, wire.chat.path]) {
      expect(await gateway.statuses(20, key, path)).toEqual(Array(20).fill(200));
      const refused = await gateway.ask(key, path);
      expect(headersOf(refused, 'x-svc-error', 'retry-after')).toEqual(['rate_limited', '30']);
      expect((await refusalOf(refused)).error.type).toBe('rate_limit_error');
      expect(await gateway.remaining(key)).toBe(path === countTokens ? '50' : '30');
    }
  });

  test('each answer shows what is left of it, and the seconds to midnight', async () => {
    await using gateway = await start();
    const figures = ['x-svc-limit', 'x-svc-remaining', 'x-svc-reset'];
    const ofMember = await gateway.ask(await gateway.issueKey());
    expect(headersOf(ofMember, ...figures)).toEqual(['50', '49', untilMidnight]);
    expect(headersOf(await gateway.ask(), ...figures)).toEqual(['3', '2', null]);
  });

  test('one that is used up says when it restarts, and tells SDKs not to wait for it', async () => {
    await using gateway = await start();
    const key = await gateway.issueKey({ limit: 1 });
    await gateway.ask(key);
    const refused = await gateway.ask(key, wire.messages.path);
    expect([refused.status, ...headersOf(refused, 'x-should-retry', 'retry-after')]).toEqual([
      429,
      'false',
      untilMidnight,
    ]);
    const { error, ...rest } = await refusalOf(refused);
    expect([rest, error.type]).toEqual([{ type: 'error' }, 'rate_limit_error']);
    expect(error.message).toMatch('2026-06-16');
  });
});

describe('DAILY_LIMIT', () => {
  test('refuses in the dialect of the request, until midnight, and charges nobody', async () => {
    await using gateway = await start({ DAILY_LIMIT: '2' });
    const key = await gateway.issueKey();
    expect(await gateway.statuses(3, key)).toEqual([200, 200, 503]);
    const refused = await gateway.ask(key, wire.messages.path);
    const headers = headersOf(refused, 'retry-after', 'x-should-retry', 'x-svc-error', 'x-svc-remaining');
    expect([refused.status, ...headers]).toEqual([503, untilMidnight, 'false', 'service_unavailable', '48']);
    const message =
      'The gateway has answered as many requests as it may on one day. This request was not charged. It starts anew at 2026-06-16T00:00:00Z.';
    expect(await refusalOf(refused)).toEqual({ type: 'error', error: { type: 'overloaded_error', message } });
    expect([gateway.upstream.requests.length, await gateway.remaining(key)]).toEqual([2, '48']);
  });

  test('is named in the log, and is neither a failure of the gateway nor a refund for one', async () => {
    await using gateway = await start({ DAILY_LIMIT: '10', GUEST_DAILY_LIMIT: '1' });
    await gateway.statuses(2);
    await gateway.ask(await gateway.issueKey());
    const answered = { message: 'answered', code: undefined, reason: undefined, refunded: false };
    const refused = { message: 'refused', code: 'service_unavailable', reason: 'guest_daily_limit', refunded: true };
    const seen = gateway.log.map(({ message, code, reason, refunded }) => ({ message, code, reason, refunded }));
    expect(seen).toEqual([answered, refused, answered]);
    const metrics = gateway.log.map((line) => metricsOf(line));
    expect(metrics.filter((line) => 'GatewayErrors' in line || 'Refunds' in line)).toEqual([]);
    expect(metrics.map(({ GuestDailyLimitUsed }) => GuestDailyLimitUsed)).toEqual([100, 100, undefined]);
    expect(metrics.filter((line) => 'DailyLimitUsed' in line)).toHaveLength(2);
  });

  test('gets back a failed answer, a broken stream and a refused and refunded body; counts of tokens it never sees', async () => {
    await using gateway = await start({ DAILY_LIMIT: '1', REFUND_REFUSALS: 'true' });
    const key = await gateway.issueKey();
    expect(await gateway.statuses(3, key, countTokens)).toEqual([200, 200, 200]);
    const counted = await chargesIn(gateway);
    gateway.upstream.answer(html(500, 'down'));
    expect((await gateway.ask(key)).status).toBe(500);
    gateway.upstream.answer(sse('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'));
    expect(await (await gateway.ask(key, undefined, { ...question, stream: true })).text()).toContain(
      'was not charged',
    );
    expect((await gateway.ask(key, undefined, { model: 'svc', stream: 1 })).status).toBe(400);
    expect(await chargesIn(gateway)).toBe(counted);
    expect(await gateway.statuses(2, key)).toEqual([200, 503]);
  });

  test('without it a request costs the store one write, and one read for its key', async () => {
    const operations: string[] = [];
    const spoilStore = ({ name }: StoreOperation) => void operations.push(name);
    await using gateway = await start({}, { spoilStore });
    await gateway.statuses(2, await gateway.issueKey());
    await gateway.ask();
    expect(operations.filter((name) => name === 'UpdateItem')).toHaveLength(3);
    // Whether the gateway is stopped, the key, and whether the guest's network is linked.
    expect(operations).toHaveLength(3 + 3);
  });
});

describe('a body that the gateway refuses', () => {
  const refunding = { REFUND_REFUSALS: 'true' };
  const told = async (response: Response) => {
    const { error } = await refusalOf(response);
    return [
      response.status,
      response.headers.get('x-svc-remaining'),
      error.message.replace(/^.*?(?=This request|Requests)/s, ''),
    ];
  };

  const wrong = { model: 'swc', messages: [], input: '' };

  test('is charged, says so, and says how many requests are left, until the last one names the cause', async () => {
    await using gateway = await start();
    const answers = [];
    for (const dialect of [...dialectNames, 'chat'] as const) {
      answers.push(await told(await gateway.ask('guest', wire[dialect].path, wrong)));
    }
    expect(answers).toEqual([
      [400, '2', 'This request was charged; 2 requests are left.'],
      [400, '1', 'This request was charged; 1 request is left.'],
      [400, '0', 'This request was charged; no requests are left.'],
      [429, '0', expect.stringMatching(/refused with a 400 counted too/)],
    ]);
    expect(gateway.upstream.requests).toEqual([]);
  });

  test('is refunded with REFUND_REFUSALS, again and again, and says so', async () => {
    await using gateway = await start(refunding);
    for (const dialect of [...dialectNames, 'chat'] as const) {
      const refused = await gateway.ask('guest', wire[dialect].path, wrong);
      expect(await told(refused)).toEqual([400, '3', 'This request was not charged; 3 requests are left.']);
    }
    expect(gateway.log.map(({ refunded }) => refunded)).toEqual(Array(4).fill(true));
    // The alarm about a failing upstream counts refunds.
    for (const line of gateway.log) expect(metricsOf(line)).not.toHaveProperty('Refunds');
  });

  testRows<[Record<string, string>, string, string]>([
    [{}, '2', 'This request was charged; 2 requests are left.'],
    [refunding, '3', 'This request was not charged; 3 requests are left.'],
  ])('is charged if it can’t be decoded, and not if it decodes to too much', async (settings, left, message) => {
    await using gateway = await start({ ...settings, REQUEST_BODY_LIMIT: '1' });
    const headers = { 'x-api-key': 'guest', 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const send = async (body: Buffer) =>
      told(await fetch(gateway.url + wire.chat.path, { method: 'POST', headers, body }));
    expect(await send(Buffer.from('no gzip'))).toEqual([400, left, message]);
    expect(await send(gzipSync(' '.repeat(1_100_000)))).toEqual([413, left, 'This request was not charged.']);
  });
});
