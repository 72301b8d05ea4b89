import { afterAll, describe, expect, test } from '@jest/globals';
import { eventText, html, reset, type Script, silence, sse, until, write } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { createStreamReader } from '../support/stream-reader.ts';
import { testRows } from '../support/test-rows.ts';
import { type Outcome, startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

/** With keep-alives that start almost at once. */
const watched = await startWatchedGateway({ environment: { KEEP_ALIVE_INTERVAL: '0.05' } });
const impatient = await startWatchedGateway({ environment: { UPSTREAM_IDLE_TIMEOUT: '0.3' } });
const { upstream } = watched.gateway;
afterAll(async () => {
  await watched[Symbol.asyncDispose]();
  await impatient[Symbol.asyncDispose]();
});

const failed = { code: 'upstream_error', charged: 0 } as const;
const slow = { code: 'upstream_timeout', charged: 0 } as const;

interface Break {
  readonly code: string;
  readonly reason: string;
  readonly charged: 0 | 1;
}

/** The last event is the dialect's error event; `begun` is how many events came before it. */
function expectErrorEvent(dialect: DialectName, text: string, begun: number, { code, charged }: Omit<Break, 'reason'>) {
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':') && !/"ping"/.test(event));
  expect(events).toHaveLength(begun + 1);
  const type = wire[dialect].errorTypes[code] ?? 'none';
  const message = expect.stringMatching(charged === 0 ? 'was not charged' : 'was charged');
  const error = wire[dialect].errorEvent({ code, type, message }, begun);
  expect(JSON.parse(/^data: (.*)$/m.exec(events.at(-1) ?? '')?.[1] ?? '')).toEqual(error.data);
  expect(/^event: (.*)$/m.exec(events.at(-1) ?? '')?.[1]).toBe(error.event);
  expect(text).not.toMatch(/\[DONE\]|acme|thunder/i);
}

/** The stream started well, and then broke. */
function expectBreak(dialect: DialectName, outcome: Outcome, begun: readonly string[], expected: Break): void {
  const { status, headers, charged, line, text } = outcome;
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching('text/event-stream')]);
  const { reason, code, end, refunded } = line;
  expect({ charged, reason, code, end, refunded }).toEqual({
    ...{ ...expected, end: 'failed' },
    refunded: expected.charged === 0,
  });
  expectErrorEvent(dialect, text, begun.length, expected);
}

const responseFailed = (message: string) => ({
  type: 'response.failed',
  sequence_number: 2,
  response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message } },
});

describe.each(dialectNames)('a stream of %s', (dialect: DialectName) => {
  const { events, failureEvent, keepAlive } = wire[dialect];
  const begun = events.slice(0, 2);
  const first = sse(begun.join(''));

  const cutEvent = write('data: {"choices":[{"index":0,"del');
  const breaks: readonly (readonly [string, Script, string])[] = [
    ['is reset', [...first, reset], 'cut'],
    ['ends within an event', [...first, cutEvent], 'cut'],
    ['is reset within an event', [...first, cutEvent, reset], 'cut'],
    ['goes on with broken JSON', [...first, write('data: {"thunder":\n\n'), silence], 'cut'],
    ['reports a failure', [...first, write(failureEvent), silence], 'reported'],
    ['reports a failure in one piece with its beginning', sse(begun.join('') + failureEvent), 'reported'],
  ];

  testRows(breaks)('breaks off, in any way', async (_name, script, reason) => {
    upstream.answer(script);
    expectBreak(dialect, await watched.ask(dialect, { stream: true }), begun, { ...failed, reason });
  });

  test('reports a failure with its key and a link', async () => {
    const message = 'AcmeCorp no longer takes upstream-key-one, see https://other.example/keys.';
    const reports = [{ type: 'error', error: { message } }, { error: { message } }, responseFailed(message)];
    for (const report of dialect === 'responses' ? reports : reports.slice(0, 2)) {
      upstream.answer([...first, write(eventText({ data: report }))]);
      const { text, line, charged } = await watched.ask(dialect, { stream: true });
      expect({ charged, reason: line.reason }).toEqual({ charged: 0, reason: 'reported' });
      expect(text).toMatch('svc no longer takes (key removed), see (link removed)');
      expect(text).not.toMatch(/upstream-key|other\.example|acme/i);
    }
  });

  test('breaks off after its end, which the client can’t tell', async () => {
    const whole = sse(events.join(''));
    for (const rest of [[reset], [silence], [write(failureEvent)], [write('data: {')]]) {
      upstream.answer([...whole, ...rest]);
      const outcome = await watched.ask(dialect, { stream: true });
      expect(outcome).toMatchObject({ status: 200, charged: 1, line: { end: 'complete' } });
      expect(outcome.text).not.toMatch(/"error":\{|not charged/);
      // The gateway does not wait for the end of a connection that stays silent.
      if (rest[0] === silence) expect(await upstream.requests.at(-1)?.closed).toBe('aborted');
    }
  });

  /** Sends a request whose upstream answers only after some keep-alives. */
  const keepWaiting = async (script: Script, signs: RegExp) => {
    const released = Promise.withResolvers<void>();
    upstream.answer([until(released.promise), ...script]);
    const { path, question } = wire[dialect];
    const asking = watched.gateway.post(path, { ...question, stream: true }, { 'x-api-key': canary.clientKey });
    const response = await asking;
    const reader = createStreamReader(response);
    await reader.until(signs);
    released.resolve();
    const text = await reader.rest();
    return { response, text, line: await watched.lineOf(response.headers.get('x-request-id')) };
  };

  testRows<[string, Script, string]>([
    ['a 500', html(500), 'server_error'],
    ['an error as its first event', sse(failureEvent), 'reported'],
  ])('that fails after keep-alives ends with an error event, and is refunded', async (_name, script, reason) => {
    const before = await watched.remaining();
    const { text, line } = await keepWaiting(script, keepAlive);
    expectErrorEvent(dialect, text, 0, failed);
    expect(line).toMatchObject({ end: 'failed', reason, code: failed.code });
    expect(await watched.remaining()).toBe(before);
  });
});

describe('a stream of chat', () => {
  const begun = wire.chat.events.slice(0, 2);
  const first = sse(begun.join(''));

  testRows([[silence], [write('data: {'), silence]])('stalls', async (...rest) => {
    impatient.gateway.upstream.answer([...first, ...rest]);
    const outcome = await impatient.ask('chat', { stream: true });
    expectBreak('chat', outcome, begun, { ...slow, reason: 'stalled' });
    expect(await impatient.gateway.upstream.requests.at(-1)?.closed).toBe('aborted');
  });

  testRows<Parameters<typeof startWatchedGateway>>([
    [{ environment: { REQUEST_TIMEOUT: '0.5' } }],
    // The function's own timeout: the error event is still sent.
    [{ functionTimeout: 5_500 }],
  ])('runs past its deadline', async (options) => {
    await using hurried = await startWatchedGateway(options);
    hurried.gateway.upstream.answer([...first, silence]);
    const outcome = await hurried.ask('chat', { stream: true });
    expectBreak('chat', outcome, begun, { ...slow, reason: 'deadline', charged: 1 });
    expect(await hurried.gateway.upstream.requests[0]?.closed).toBe('aborted');
  });

  const chunk = (index: number, finish_reason: string | null, content = 'x') =>
    eventText({ data: { id: 'c', choices: [{ index, delta: { content }, finish_reason }] } });
  const none = eventText({ data: { id: 'c', choices: [], usage: { prompt_tokens: 5, completion_tokens: 0 } } });
  const done = 'data: [DONE]\n\n';

  /** Only an upstream can cause these. A caller can influence what the model writes, and how much. */
  testRows<[string, string, 0 | 1, object?]>([
    ['no choice', none + done, 0],
    ['no end of a choice', chunk(0, null), 0],
    ['no end of a second choice', chunk(0, 'stop') + chunk(1, null), 0],
    ['one choice of two that were asked for', chunk(0, 'stop'), 0, { n: 2 }],
    ['two choices that were asked for', chunk(0, 'stop') + chunk(1, 'stop'), 1, { n: 2 }],
    ['more names to hide than a text may hold', begun.join('') + chunk(0, null, 'acme '.repeat(150_000)), 1],
  ])('is refunded only for failures that a caller can’t provoke', async (_name, text, charged, more = {}) => {
    const before = await watched.remaining();
    upstream.answer(sse(text));
    const { path, question } = wire.chat;
    const headers = { 'x-api-key': canary.clientKey };
    const response = await watched.gateway.post(path, { ...question, ...more, stream: true }, headers);
    const answered = await response.text();
    expect([before - (await watched.remaining()), answered.includes('not charged')]).toEqual([charged, charged === 0]);
  });
});
