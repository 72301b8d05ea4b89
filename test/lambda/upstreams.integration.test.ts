import { describe, expect, test } from '@jest/globals';
import { empty, html, json, silence, sse, until } from '../../local/upstream/script.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { startTestGateway } from '../support/gateway.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { answer, events, path, question } = wire.chat;
const good = json(200, answer);
const succeeds = async (watched: WatchedGateway) =>
  expect(await watched.ask('chat')).toMatchObject({ status: 200, charged: 1, line: { end: 'complete' } });

describe('several upstreams', () => {
  async function startTwo(environment: Record<string, string> = {}, firstUrl?: string) {
    await using started = new AsyncDisposableStack();
    const second = started.use(await startFakeUpstream());
    const watched = await startWatchedGateway({
      environment: {
        ...(firstUrl !== undefined && { UPSTREAM_BASE_URL: firstUrl }),
        UPSTREAM_API_KEYS: 'upstream-key-a,upstream-key-b',
        UPSTREAM_2_BASE_URL: second.url,
        UPSTREAM_2_API_KEYS: 'upstream-key-x,upstream-key-y',
        UPSTREAM_2_TEXT_MODEL: 'acmecorp/second',
        UPSTREAM_2_VISION_MODEL: 'acmecorp/second-eyes',
        ...environment,
      },
    });
    started.use(watched);
    second.otherwise(good);
    const running = started.move();
    return { watched, first: watched.gateway.upstream, second, [Symbol.asyncDispose]: () => running.disposeAsync() };
  }

  test('a failure of the first fails over to the second, for one charge', async () => {
    await using two = await startTwo();
    two.first.answer(empty(429), html(500));
    await succeeds(two.watched);
    expect([two.first.requests.length, two.second.requests.length]).toEqual([2, 1]);
    const sent = JSON.parse(String(two.second.requests[0]?.body));
    expect(sent).toEqual({ ...question, stream: false, model: 'acmecorp/second' });
    const failed = two.watched.gateway.log.filter(({ message }) => message === 'upstream failed');
    expect(failed).toMatchObject(Array(2).fill({ level: 'warn', upstream: 'UPSTREAM', another: true }));
  });

  test('a stream fails over too, even after keep-alives', async () => {
    await using two = await startTwo({ KEEP_ALIVE_INTERVAL: '0.05' });
    const released = Promise.withResolvers<void>();
    two.first.answer([until(released.promise), ...html(500)]);
    two.second.answer(sse(events.join('')));
    const response = await two.watched.gateway.post(path, { ...question, stream: true }, { 'x-api-key': 'guest' });
    const reader = createStreamReader(response);
    await reader.until(wire.chat.keepAlive);
    released.resolve();
    expect(await reader.rest()).toMatch(canary.answer);
  });

  test('each attempt has the full timeout until its first event', async () => {
    await using two = await startTwo({ UPSTREAM_IDLE_TIMEOUT: '100' });
    const [failing, answering] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    two.first.answer([until(failing.promise), ...html(500)]);
    two.second.answer([until(answering.promise), ...sse(events.join(''))]);
    using timers = stopTimers();
    const asked = two.watched.gateway.post(path, { ...question, stream: true }, { 'x-api-key': 'guest' });
    await two.first.arrival(0);
    timers.pass(60_000);
    failing.resolve();
    await two.second.arrival(0);
    timers.pass(60_000);
    answering.resolve();
    expect(await (await asked).text()).toMatch(canary.answer);
  });

  describe('with UPSTREAM_FIRST_EVENT_TIMEOUT', () => {
    const limited = {
      UPSTREAM_FIRST_EVENT_TIMEOUT: '20',
      UPSTREAM_API_KEYS: 'upstream-key-a',
      UPSTREAM_2_FIRST_EVENT_TIMEOUT: '20',
      UPSTREAM_2_API_KEYS: 'upstream-key-x',
    };
    const stream = { ...question, stream: true };
    const asks = (two: Awaited<ReturnType<typeof startTwo>>, key = 'guest') =>
      two.watched.gateway.post(path, stream, { 'x-api-key': key });

    test('if an upstream does not start its stream, the next one is tried, for one charge', async () => {
      await using two = await startTwo(limited);
      const before = await two.watched.remaining('guest');
      two.first.answer([silence]);
      two.second.answer(sse(events.join('')));
      using timers = stopTimers();
      const asked = asks(two);
      await two.first.arrival(0);
      timers.pass(19_999);
      expect(two.second.requests).toHaveLength(0);
      timers.pass(1);
      const response = await asked;
      expect(await response.text()).toMatch(canary.answer);
      await two.first.requests[0]?.closed;
      expect(before - (await two.watched.remaining('guest'))).toBe(1);
      const line = await two.watched.lineOf(response.headers.get('x-request-id'));
      expect(line).toMatchObject({ end: 'complete', tries: 2 });
    });

    test('a key is set aside after failing for three callers', async () => {
      await using two = await startTwo(limited);
      two.first.otherwise([silence]);
      two.second.otherwise(sse(events.join('')));
      const keys = await Promise.all(['a', 'b', 'c'].map((member) => two.watched.gateway.issueKey({ member })));
      using timers = stopTimers();
      for (const [index, key] of [keys[0], keys[0], keys[0], keys[1], keys[2]].entries()) {
        const asked = asks(two, key);
        await two.first.arrival(index);
        timers.pass(20_000);
        await (await asked).text();
      }
      await (await asks(two, keys[0])).text();
      expect([two.first.requests.length, two.second.requests.length]).toEqual([5, 6]);
    });
  });
});

test('with several keys, all turns of a conversation use the same one, in any environment', async () => {
  const environment = { UPSTREAM_API_KEYS: 'upstream-key-a,upstream-key-b,upstream-key-c', GUEST_LIMIT: '100' };
  await using one = await startTestGateway({ environment });
  await using other = await startTestGateway({ environment });
  for (const { upstream, post } of [one, other]) {
    upstream.otherwise(good);
    for (let turn = 0; turn < 4; turn += 1) {
      const further = Array.from({ length: turn }, (_, index) => ({ role: 'user', content: `More ${index}.` }));
      // As with a coding agent, the cache mark moves.
      const opening = turn % 2 ? [{ type: 'text', text: 'Mend it.', cache_control: {} }] : 'Mend it.';
      const messages = [{ role: 'user', content: opening }, ...further];
      expect((await post(path, { model: 'svc', messages }, { 'x-api-key': 'guest' })).status).toBe(200);
    }
  }
  const requests = [...one.upstream.requests, ...other.upstream.requests];
  expect([requests.length, new Set(requests.map(({ headers }) => headers.authorization)).size]).toEqual([8, 1]);
});

/** Sends a request to a gateway with one upstream, to test settings. */
async function ask(options: Parameters<typeof startTestGateway>[0], answer = json(200, { id: 'x', choices: [] })) {
  await using gateway = await startTestGateway(options);
  gateway.upstream.otherwise(answer);
  const response = await gateway.post(path, { ...question, user: 'me@home' }, { 'x-api-key': 'guest' });
  const own = await gateway.post(path, { ...question, user: 'me@home' }, { 'x-api-key': await gateway.issueKey() });
  await own.text();
  const users = gateway.upstream.requests.map(({ body }) => JSON.parse(String(body)).user);
  const [{ headers } = {}] = gateway.upstream.requests;
  const code = response.headers.get('x-svc-error');
  return { status: response.status, code, text: await response.text(), headers, users };
}

test('with UPSTREAM_CALLER_IDS=hash, ids distinguish callers and reveal nothing else', async () => {
  const { users } = await ask({ environment: { UPSTREAM_CALLER_IDS: 'hash' } });
  expect(users).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
  expect(users[0]).not.toBe(users[1]);
});

const trace = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${trace}-b7ad6b7169203331-01`;

testRows([
  ['false', traceparent, trace, undefined],
  ['true', traceparent, trace, expect.stringMatching(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`)],
  ['true', '00-canary-of-the-header-01', undefined, undefined],
])(
  'a valid trace is logged, and with UPSTREAM_TRACE forwarded as a child of the gateway’s span',
  async (UPSTREAM_TRACE, given, logged, forwarded) => {
    await using gateway = await startTestGateway({ environment: { UPSTREAM_TRACE } });
    gateway.upstream.answer(good);
    const headers = { 'x-api-key': 'guest', traceparent: given, tracestate: 'a=b' };
    expect(await (await gateway.post(path, question, headers)).text()).toMatch(canary.answer);
    const sent = gateway.upstream.requests[0]?.headers;
    expect([gateway.log.at(-1)?.trace, sent?.traceparent, sent?.tracestate]).toEqual([logged, forwarded, undefined]);
  },
);

describe('UPSTREAM_HEADERS', () => {
  const secret = (value: unknown) => ({
    environment: {
      UPSTREAM_API_KEYS: '',
      UPSTREAM_SECRET_ID: 'keys',
      UPSTREAM_HEADERS: '{"x-team":"a","x-place":"b"}',
    },
    readSecret: async () => JSON.stringify({ UPSTREAM_API_KEYS: 'upstream-key', UPSTREAM_HEADERS: value }),
  });

  testRows([
    ['an object', { 'X-Place': 'secret-workspace' }, 'secret-workspace'],
    ['its text', '{"X-Place":"secret-workspace"}', 'secret-workspace'],
    ['none', {}, 'b'],
  ])(
    'are joined by those of the secret, which win, and are not told when the upstream repeats them',
    async (_, value, place) => {
      const repeats = json(400, { error: { message: 'secret-workspace is unknown' } });
      const { headers, text } = await ask(secret(value), repeats);
      expect(headers).toMatchObject({ 'x-team': 'a', 'x-place': place });
      expect(text.includes('secret-workspace')).toBe(place === 'b');
    },
  );

  testRows([{ host: 'elsewhere' }, [null]])(
    'invalid ones are a fault of the gateway’s own, and nothing goes upstream',
    async (value) => {
      const { status, code, users } = await ask(secret(value));
      expect([status, code, users]).toEqual([503, 'service_unavailable', []]);
    },
  );
});
