import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { stopTimers } from '../support/stop-timers.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const answer = json(200, { id: 'x', model: 'm', choices: [] });
/** In the middle of a minute of the middle of a day, so that no window ends while a test runs. */
const noon = Date.UTC(2026, 5, 15, 12, 0, 30);

async function outcomes(responses: readonly Response[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const response of responses) {
    const name = response.headers.get('x-svc-error') ?? String(response.status);
    counts[name] = (counts[name] ?? 0) + 1;
    await response.text();
  }
  return counts;
}

describe('quota over HTTP', () => {
  let gateway: TestGateway;
  const start = async (environment: Record<string, string> = {}) => {
    gateway = await startTestGateway({ environment, now: () => noon });
    gateway.upstream.otherwise(answer);
  };
  const ask = (key: string, path = '/v1/chat/completions', body: unknown = question) =>
    gateway.post(path, body, { 'x-api-key': key });
  const many = async (count: number, key: string) => {
    // Parallel requests would mistake their own queue for a slow store.
    using _timers = stopTimers();
    return await Promise.all(Array.from({ length: count }, () => ask(key)));
  };
  const remaining = async (key: string) => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } });
    return response.headers.get('x-svc-remaining');
  };

  beforeEach(() => start());
  afterEach(() => gateway[Symbol.asyncDispose]());

  test('of 100 guest requests at once from one network exactly 3 pass', async () => {
    const counts = await outcomes(await many(100, 'guest'));
    expect(counts).toEqual({ 200: 3, quota_exceeded: 97 });
    expect(gateway.upstream.requests).toHaveLength(3);
    expect(await remaining('guest')).toBe('0');
  });

  test('the 21st request of a minute is rate limited and not charged', async () => {
    const key = await gateway.issueKey();
    for (let index = 0; index < 20; index += 1) expect((await ask(key)).status).toBe(200);
    const refused = await ask(key);
    expect(refused.headers.get('x-svc-error')).toBe('rate_limited');
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(refused.headers.get('x-svc-remaining')).toBe('30');
    expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limited' } });
    expect(await remaining(key)).toBe('30');
  });

  test('each answer shows the quota left, and the seconds to midnight', async () => {
    const key = await gateway.issueKey();
    const response = await ask(key);
    expect(['limit', 'remaining', 'reset'].map((name) => response.headers.get(`x-svc-${name}`))).toEqual([
      '50',
      '49',
      String(12 * 3600 - 30),
    ]);
    expect((await ask('guest')).headers.get('x-svc-reset')).toBeNull();
  });

  test('an exhausted daily quota says when it restarts, and tells SDKs not to wait for it', async () => {
    const key = await gateway.issueKey({ limit: 1 });
    await ask(key);
    const refused = await ask(key, '/v1/messages', question);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.headers.get('retry-after')).toBe(String(12 * 3600 - 30));
    const { type, error } = (await refused.json()) as { type: string; error: { type: string; message: string } };
    expect([type, error.type]).toEqual(['error', 'rate_limit_error']);
    expect(error.message).toMatch('2026-06-16');
  });

  test('counting tokens has a burst limit of its own', async () => {
    const key = await gateway.issueKey();
    const count = () => ask(key, '/v1/messages/count_tokens', { model: 'svc', messages: [] });
    for (let index = 0; index < 20; index += 1) expect((await count()).status).toBe(200);
    expect((await count()).headers.get('x-svc-error')).toBe('rate_limited');
    expect((await ask(key)).status).toBe(200);
  });
});
