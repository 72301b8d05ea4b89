import { describe, expect, test } from '@jest/globals';
import { empty, html, json, redirect, reset, type Script, silence, sse, until } from '../../local/upstream/script.ts';
import { startDeafUpstream } from '../support/deaf-upstream.ts';
import { refusingUrl, startFakeUpstream } from '../support/fake-upstream.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const { answer, events, failureEvent, path, question } = wire.chat;
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

  testRows<[string, Script[], number]>([
    ['500', [html(500)], 1],
    ['529', [html(529)], 1],
    ['a lost connection', [[reset]], 1],
    ['429 on each of its keys', [empty(429), empty(429)], 2],
    ['401 and 402', [empty(401), empty(402)], 2],
  ])('a failure of the first moves on to the second, for one charge', async (_name, scripts, tries) => {
    await using two = await startTwo();
    two.first.answer(...scripts);
    await succeeds(two.watched);
    expect([two.first.requests.length, two.second.requests.length]).toEqual([tries, 1]);
    expect(JSON.parse(String(two.second.requests[0]?.body))).toEqual({
      ...question,
      stream: false,
      model: 'acmecorp/second',
    });
    expect(two.watched.gateway.log.filter(({ message }) => message === 'upstream failed')).toMatchObject(
      scripts.map(() => ({ level: 'warn', upstream: 'UPSTREAM', another: true })),
    );
  });

  testRows<[string, Script, number]>([
    ['400', html(400), 400],
    ['404', html(404), 502],
    ['408', html(408), 504],
    ['413', html(413), 413],
    ['a redirect', redirect('/'), 502],
    ['HTML', html(200), 502],
    ['an error', json(200, { error: { message: 'x' } }), 502],
  ])('any other answer of the first is the answer', async (_name, script, status) => {
    await using two = await startTwo();
    two.first.answer(script);
    expect((await two.watched.ask('chat')).status).toBe(status);
    expect(two.second.requests).toHaveLength(0);
  });

  test('a first one that can’t be reached is passed over', async () => {
    await using deaf = await startDeafUpstream();
    for (const url of [refusingUrl, deaf.url]) {
      await using two = await startTwo({ UPSTREAM_CONNECT_TIMEOUT: '0.1' }, url);
      await succeeds(two.watched);
      expect(two.second.requests).toHaveLength(1);
    }
  });

  test('resting keys of the first are tried if the second can’t be reached', async () => {
    await using two = await startTwo({ UPSTREAM_2_BASE_URL: refusingUrl });
    const limited = empty(429, { 'retry-after': '600' });
    two.first.answer(limited, limited);
    expect(await two.watched.ask('chat')).toMatchObject({ status: 502, charged: 0, line: { reason: 'unreachable' } });
    two.first.otherwise(good);
    await succeeds(two.watched);
    expect(two.first.requests).toHaveLength(3);
  });

  test('an upstream that failed is not asked again by one of its resting keys', async () => {
    await using two = await startTwo();
    two.first.answer(empty(429), html(500));
    two.second.answer(empty(429), empty(429));
    // a rests, b finds the upstream down, and the second's keys are limited.
    expect(await two.watched.ask('chat')).toMatchObject({ status: 503, charged: 0 });
    expect([two.first.requests.length, two.second.requests.length]).toEqual([2, 2]);
    two.first.answer(html(500));
    two.second.answer(html(500));
    // b is awake: the first is down, and so is the second, whose keys rest.
    expect(await two.watched.ask('chat')).toMatchObject({ status: 500, charged: 0 });
    expect([two.first.requests.length, two.second.requests.length]).toEqual([3, 3]);
  });

  test('when all fail, the last failure is the answer, refunded once', async () => {
    await using two = await startTwo();
    two.first.answer(html(503));
    two.second.answer(html(502));
    expect(await two.watched.ask('chat')).toMatchObject({ status: 502, charged: 0, line: { reason: 'server_error' } });
    expect([two.first.requests.length, two.second.requests.length]).toEqual([1, 1]);
  });

  test('a stream moves on too, even when it is already kept alive', async () => {
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

  test('each try has the full time until its first event', async () => {
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

  test('a key that rests at one rests there only', async () => {
    await using two = await startTwo({ UPSTREAM_API_KEYS: 'shared', UPSTREAM_2_API_KEYS: 'shared' });
    two.first.answer(empty(429, { 'retry-after': '60' }));
    for (let round = 0; round < 3; round += 1) await succeeds(two.watched);
    expect([two.first.requests.length, two.second.requests.length]).toEqual([1, 3]);
  });

  testRows<[string, Script, number]>([
    ['one event went out', [...sse(events[0] ?? ''), reset], 0],
    ['its first event is an error', sse(failureEvent), 0],
    ['it said nothing', sse(''), 0],
  ])('a stream stays where it is once it has begun or ended', async (_name, script, charged) => {
    await using two = await startTwo();
    two.first.answer(script);
    expect(await two.watched.ask('chat', { stream: true })).toMatchObject({ charged });
    expect(two.second.requests).toHaveLength(0);
  });

  test('no try is made past the deadline', async () => {
    await using two = await startTwo({ REQUEST_TIMEOUT: '0.1' });
    two.first.otherwise([silence]);
    for (const stream of [false, true]) {
      expect(await two.watched.ask('chat', { stream })).toMatchObject({ status: 504, charged: 0 });
    }
    expect(two.second.requests).toHaveLength(0);
  });
});
