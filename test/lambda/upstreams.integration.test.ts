import { describe, expect, test } from '@jest/globals';
import { empty, html, json, type Script, silence, sse, until } from '../../local/upstream/script.ts';
import { conversations } from '../support/conversations.ts';
import { type RecordedRequest, startFakeUpstream } from '../support/fake-upstream.ts';
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

  testRows<[string, Script[], number]>([
    ['500', [html(500)], 1],
    ['429 on each of its keys', [empty(429), empty(429)], 2],
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

  test('no try is made past the deadline', async () => {
    await using two = await startTwo({ REQUEST_TIMEOUT: '0.1' });
    two.first.otherwise([silence]);
    for (const stream of [false, true]) {
      expect(await two.watched.ask('chat', { stream })).toMatchObject({ status: 504, charged: 0 });
    }
    expect(two.second.requests).toHaveLength(0);
  });
});

describe('several keys', () => {
  const keys = { UPSTREAM_API_KEYS: 'upstream-key-a,upstream-key-b,upstream-key-c' };
  const keyOf = ({ headers }: RecordedRequest) => headers.authorization;

  testRows(Object.values(conversations))(
    'all turns of a conversation go to one, in any environment',
    async (converse) => {
      const environment = { ...keys, GUEST_LIMIT: '100' };
      await using one = await startTestGateway({ environment });
      await using other = await startTestGateway({ environment });
      const conversation = converse('one');
      for (const { upstream, post } of [one, other]) {
        upstream.otherwise(
          json(200, { id: 'x', type: 'message', object: 'response', choices: [], content: [], output: [] }),
        );
        for (let turn = 1; turn <= 6; turn += 1) {
          const { headers, body } = conversation.turn(turn);
          expect((await post(conversation.path, body, { 'x-api-key': 'guest', ...headers })).status).toBe(200);
        }
      }
      const requests = [...one.upstream.requests, ...other.upstream.requests];
      expect([requests.length, new Set(requests.map(keyOf)).size]).toEqual([12, 1]);
    },
  );
});
