import { afterAll, describe, expect, test } from '@jest/globals';
import { eventText, html, type Script, silence, sse, until, write } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

/** With keep-alives that start almost at once. */
const watched = await startWatchedGateway({ environment: { KEEP_ALIVE_INTERVAL: '0.05' } });
const { upstream, post } = watched.gateway;
afterAll(() => watched[Symbol.asyncDispose]());

const failed = { end: 'failed', code: 'upstream_error', refunded: true };

/** The last event is the dialect's error event, and says that the request is free; `begun` is how many events came before it. */
function expectErrorEvent(dialect: DialectName, text: string, begun: number) {
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':') && !/"ping"/.test(event));
  expect(events).toHaveLength(begun + 1);
  const type = wire[dialect].errorTypes[failed.code] ?? 'none';
  const message = expect.stringMatching('was not charged');
  const error = wire[dialect].errorEvent({ code: failed.code, type, message }, begun);
  expect(JSON.parse(/^data: (.*)$/m.exec(events.at(-1) ?? '')?.[1] ?? '')).toEqual(error.data);
  expect(/^event: (.*)$/m.exec(events.at(-1) ?? '')?.[1]).toBe(error.event);
  expect(text).not.toMatch(/\[DONE\]|acme|thunder/i);
}

describe.each(dialectNames)('a stream of %s', (dialect: DialectName) => {
  const { events, failureEvent, keepAlive, path, question } = wire[dialect];
  const first = sse(events.slice(0, 2).join(''));

  testRows<[string, Script, string]>([
    ['ends within an event', [...first, write('data: {"choices":[{"index":0,"del')], 'cut'],
    ['reports a failure', [...first, write(failureEvent), silence], 'reported'],
  ])('that breaks off ends with an error event, and is refunded', async (_name, script, reason) => {
    upstream.answer(script);
    const { status, headers, text, charged, line } = await watched.ask(dialect, { stream: true });
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching('text/event-stream')]);
    expectErrorEvent(dialect, text, 2);
    expect(charged).toBe(0);
    expect(line).toMatchObject({ ...failed, reason });
  });

  test('that fails after keep-alives does so too', async () => {
    const released = Promise.withResolvers<void>();
    upstream.answer([until(released.promise), ...html(500)]);
    const before = await watched.remaining();
    const response = await post(path, { ...question, stream: true }, { 'x-api-key': canary.clientKey });
    const reader = createStreamReader(response);
    await reader.until(keepAlive);
    released.resolve();
    expectErrorEvent(dialect, await reader.rest(), 0);
    const line = await watched.lineOf(response.headers.get('x-request-id'));
    expect(line).toMatchObject({ ...failed, reason: 'server_error' });
    expect(await watched.remaining()).toBe(before);
  });
});

test('an upstream that stays silent after the end of its answer is let go of', async () => {
  upstream.answer([...sse(wire.chat.events.join('')), silence]);
  using timers = stopTimers();
  const headers = { 'x-api-key': canary.clientKey };
  const response = await post(wire.chat.path, { ...wire.chat.question, stream: true }, headers);
  expect(await response.text()).not.toMatch(/"error"/);
  timers.pass(1_000);
  expect(await upstream.requests.at(-1)?.closed).toBe('aborted');
});

const chunk = (content: string, finish_reason: string | null = null) =>
  eventText({ data: { id: 'c', choices: [{ index: 0, delta: { content }, finish_reason }] } });
const noChoice = eventText({ data: { id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 0 } } });

/** Only an upstream can leave out what was asked for. A caller can influence what the model writes, and how much. */
testRows<[string, string, 0 | 1, object?]>([
  ['no choice', `${noChoice}data: [DONE]\n\n`, 0],
  ['one choice of two that were asked for', chunk('x', 'stop'), 0, { n: 2 }],
  ['more names to hide than a text may hold', chunk('x') + chunk('acme '.repeat(150_000)), 1],
])('a stream is refunded only for failures that a caller can’t provoke', async (_name, text, charged, more = {}) => {
  const before = await watched.remaining();
  upstream.answer(sse(text));
  const { path, question } = wire.chat;
  const response = await post(path, { ...question, ...more, stream: true }, { 'x-api-key': canary.clientKey });
  const answered = await response.text();
  expect([before - (await watched.remaining()), answered.includes('not charged')]).toEqual([charged, charged === 0]);
});
