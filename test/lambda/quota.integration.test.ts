import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import type { DialectName } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { metricsOf } from '../support/metrics.ts';
import { PRICES } from '../support/prices.ts';
import type { StoreOperation } from '../support/store-proxy.ts';
import { testRows } from '../support/test-rows.ts';
import { waitUntil } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const answer = json(200, { id: 'x', model: 'm', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } });
/** In the middle of a minute and of a day, so that no window ends while a test runs. */
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
  test('one request too many in a minute is rate limited and not charged; token counts have their own burst', async () => {
    await using gateway = await start({ BURST_LIMIT: '2' });
    const key = await gateway.issueKey();
    for (const path of [countTokens, wire.chat.path]) {
      expect(await gateway.statuses(2, key, path)).toEqual([200, 200]);
      const refused = await gateway.ask(key, path);
      expect(headersOf(refused, 'x-svc-error', 'retry-after')).toEqual(['rate_limited', '30']);
      expect((await refusalOf(refused)).error.type).toBe('rate_limit_error');
      expect(await gateway.remaining(key)).toBe(path === countTokens ? '50' : '48');
    }
  });

  test('is in each response with the seconds until midnight; once used up, the error says when it resets and tells SDKs not to retry', async () => {
    await using gateway = await start();
    const snapshot = ['x-svc-limit', 'x-svc-remaining', 'x-svc-reset'];
    expect(headersOf(await gateway.ask(), ...snapshot)).toEqual(['3', '2', null]);
    const key = await gateway.issueKey({ limit: 1 });
    expect(headersOf(await gateway.ask(key), ...snapshot)).toEqual(['1', '0', untilMidnight]);
    const refused = await gateway.ask(key, wire.messages.path);
    const headers = headersOf(refused, 'x-should-retry', 'retry-after');
    expect([refused.status, ...headers]).toEqual([429, 'false', untilMidnight]);
    const { error, ...rest } = await refusalOf(refused);
    expect([rest, error.type]).toEqual([{ type: 'error' }, 'rate_limit_error']);
    expect(error.message).toMatch('2026-06-16');
  });
});

test('an answer that comes after midnight shows what is left of the new day, and of the budget of the new month', async () => {
  let time = Date.UTC(2026, 5, 30, 23, 59, 50);
  await using gateway = await start({ PRICES }, { now: () => time });
  const key = await gateway.issueKey({ limit: 200, budget: 10_000_000, budgetWindow: 'month' });
  const snapshot = ['x-svc-limit', 'x-svc-remaining', 'x-svc-reset'];
  expect(headersOf(await gateway.ask(key), ...snapshot)).toEqual(['200', '199', '10']);
  gateway.upstream.answer(() => {
    time = Date.UTC(2026, 6, 1, 0, 0, 5);
    return answer;
  });
  const late = await gateway.ask(key);
  expect(headersOf(late, ...snapshot)).toEqual(['200', '200', String(24 * 3600 - 5)]);
  const ofBudget = headersOf(late, 'x-svc-budget-remaining', 'x-svc-budget-reset');
  expect(ofBudget).toEqual(['10.00', String(31 * 24 * 3600 - 5)]);
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
      'The gateway has answered as many requests as it may on one day. This request was not charged. Try again after 2026-06-16T00:00:00Z.';
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

  test('logs if the store loses a count, and the caller is refunded', async () => {
    const spoilStore = ({ body }: StoreOperation) => (body.includes('ADD requests') ? 'answer lost' : undefined);
    await using gateway = await start({ DAILY_LIMIT: '5' }, { spoilStore });
    expect(await gateway.statuses(1, await gateway.issueKey())).toEqual([503]);
    expect(gateway.log).toMatchObject([
      { level: 'warn', message: 'count left standing', limit: 'daily_limit', cause: 'NoAnswer' },
      { message: 'refused', refunded: true },
    ]);
  });

  test('without it a request costs one write to the store and one read of its key, and with a budget a second write', async () => {
    const operations: string[] = [];
    const writes = () => operations.filter((name) => name === 'UpdateItem').length;
    const spoilStore = ({ name }: StoreOperation) => void operations.push(name);
    await using gateway = await start({ PRICES }, { spoilStore });
    // The second one is refused, with the quota snapshot that its write returned.
    expect(await gateway.statuses(2, await gateway.issueKey({ limit: 1 }))).toEqual([200, 429]);
    await gateway.ask();
    expect(writes()).toBe(3);
    // Whether the gateway is stopped, the key, and whether the guest's network is linked.
    expect(operations).toHaveLength(3 + 3);
    await gateway.ask(await gateway.issueKey({ budget: 1_000_000, budgetWindow: 'day' }));
    await waitUntil(() => writes() === 5, 'the settlement is sent');
  });
});

describe('a body that the gateway refuses', () => {
  const told = async (response: Response) => {
    const { error } = await refusalOf(response);
    const end = error.message.replace(/^.*?(?=This request|Requests)/s, '');
    return [response.status, response.headers.get('x-svc-remaining'), end];
  };
  const unknown = { model: 'swc', messages: [], input: '' };
  const notGzip = Buffer.from('no gzip');
  const bomb = gzipSync(' '.repeat(1_100_000));

  test('is charged, and its error says how many requests are left, until the last one names the cause', async () => {
    await using gateway = await start();
    const refuse = (dialect: DialectName) => gateway.ask('guest', wire[dialect].path, unknown).then(told);
    expect([await refuse('chat'), await refuse('responses'), await refuse('messages'), await refuse('chat')]).toEqual([
      [400, '2', 'This request was charged; 2 requests are left.'],
      [400, '1', 'This request was charged; 1 request is left.'],
      [400, '0', 'This request was charged; no requests are left.'],
      [429, '0', expect.stringMatching(/refused with a 400 counted too/)],
    ]);
    expect(gateway.upstream.requests).toEqual([]);
  });

  testRows<[Record<string, string>, string, string]>([
    [{}, '2', 'This request was charged; 2 requests are left.'],
    [{ REFUND_REFUSALS: 'true' }, '3', 'This request was not charged; 3 requests are left.'],
  ])(
    'is refunded with REFUND_REFUSALS, which is no failure, and always if it decodes to too much',
    async (settings, left, message) => {
      await using gateway = await start({ ...settings, REQUEST_BODY_LIMIT: '1' });
      const headers = { 'x-api-key': 'guest', 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const send = async (body: Buffer) =>
        told(await fetch(gateway.url + wire.chat.path, { method: 'POST', headers, body }));
      expect(await send(notGzip)).toEqual([400, left, message]);
      expect(await send(bomb)).toEqual([413, left, 'This request was not charged.']);
      for (const line of gateway.log) expect(metricsOf(line)).not.toHaveProperty('Refunds');
    },
  );
});

test('RATE_LIMIT_HEADERS tell rate limits in every response, where pages of other origins can read them', async () => {
  const rateHeadersOf = ({ headers }: Response) => [...headers.keys()].filter((name) => /rate-?limit/.test(name));
  await using without = await start();
  expect(rateHeadersOf(await without.ask())).toEqual([]);
  await using gateway = await start({ RATE_LIMIT_HEADERS: 'true' });
  const key = await gateway.issueKey();
  expect((await gateway.ask(key)).headers.get('ratelimit')).toBe(`"quota";r=49;t=${untilMidnight}, "burst";r=19;t=30`);
  const refused = await gateway.ask(key, wire.messages.path, {});
  expect(headersOf(refused, 'anthropic-ratelimit-requests-remaining')).toEqual(['18']);
  const models = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key, origin: 'https://a.test' } });
  expect(headersOf(models, 'x-ratelimit-remaining-requests')).toEqual(['18']);
  expect(models.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining-requests');
});
