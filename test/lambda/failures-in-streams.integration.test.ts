import { describe, expect, test } from '@jest/globals';
import { eventText, hangUp, head, reset, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { testRows } from '../support/test-rows.ts';
import { type Outcome, startWatchedGateway } from '../support/watched-gateway.ts';
import { wire } from '../support/wire.ts';

const failed = { code: 'upstream_error', charged: 0 } as const;
const slow = { code: 'upstream_timeout', charged: 0 } as const;
const eventHead = head(200, { 'content-type': 'text/event-stream' });

interface Break {
  readonly code: string;
  readonly reason: string;
  readonly charged: 0 | 1;
}

/** The stream began well, and its last event says in the dialect's own way that it was not the end. */
function expectBreak(dialect: DialectName, outcome: Outcome, begun: readonly string[], expected: Break): void {
  const { status, headers, charged, line } = outcome;
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch('text/event-stream');
  const { reason, code, end, refunded } = line;
  expect({ charged, reason, code, end, refunded }).toEqual({
    ...expected,
    end: 'failed',
    refunded: expected.charged === 0,
  });
  const events = outcome.text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':') && !/"ping"/.test(event));
  const last = events.at(-1) ?? '';
  expect(events).toHaveLength(begun.length + 1);
  const data = /^data: (.*)$/m.exec(last)?.[1] ?? '';
  const type = wire[dialect].errorTypes[expected.code] ?? 'none';
  const message =
    expected.charged === 0 ? expect.stringMatching('not charged') : expect.not.stringMatching('not charged');
  const error = wire[dialect].errorEvent({ code: expected.code, type, message }, begun.length);
  expect(JSON.parse(data)).toEqual(error.data);
  expect(/^event: (.*)$/m.exec(last)?.[1]).toBe(error.event);
  expect(outcome.text).not.toMatch(/\[DONE\]|acme|thunder/i);
}

const responseFailed = (message: string) => ({
  type: 'response.failed',
  sequence_number: 2,
  response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message } },
});

describe.each(dialectNames)('a stream of %s', (dialect: DialectName) => {
  const { events, failureEvent } = wire[dialect];
  const begun = events.slice(0, 2);
  const first = sse(begun.join(''));

  const breaks: readonly (readonly [string, Script, string])[] = [
    ['is reset', [...first, reset], 'cut'],
    ['is closed', [...first, hangUp], 'cut'],
    ['ends too early', first, 'cut'],
    ['ends within an event', [...first, write('data: {"choices":[{"index":0,"del')], 'cut'],
    ['is reset within an event', [...first, write('data: {"choices":[{"index":0,"del'), reset], 'cut'],
    ['goes on with broken JSON', [...first, write('data: {"thunder":\n\n'), silence], 'cut'],
    ['reports a failure', [...first, write(failureEvent), silence], 'reported'],
    ['reports a failure and ends', [...first, write(failureEvent + eventText({ data: '[DONE]' }))], 'reported'],
    ['reports a failure in one piece with its beginning', sse(begun.join('') + failureEvent), 'reported'],
  ];

  test('breaks, in any way', async () => {
    await using watched = await startWatchedGateway();
    for (const [name, script, reason] of breaks) {
      watched.gateway.upstream.answer(script);
      const outcome = await watched.ask(dialect, { stream: true });
      expect([name, outcome.line.reason]).toEqual([name, reason]);
      expectBreak(dialect, outcome, begun, { ...failed, reason });
    }
  });

  test('reports a failure with its key and a link', async () => {
    await using watched = await startWatchedGateway();
    const message = 'AcmeCorp no longer takes upstream-key-one, see https://other.example/keys.';
    const reports = [{ type: 'error', error: { message } }, { error: { message } }, responseFailed(message)];
    for (const report of dialect === 'responses' ? reports : reports.slice(0, 2)) {
      watched.gateway.upstream.answer([...first, write(eventText({ data: report }))]);
      const { text, line, charged } = await watched.ask(dialect, { stream: true });
      expect({ charged, reason: line.reason }).toEqual({ charged: 0, reason: 'reported' });
      expect(text).toMatch('svc no longer takes (key removed), see (link removed)');
      expect(text).not.toMatch(/upstream-key|other\.example|acme/i);
    }
  });

  test('breaks after its end, which does not concern the client', async () => {
    await using watched = await startWatchedGateway();
    const { upstream } = watched.gateway;
    const whole = [eventHead, write(events.join(''))];
    for (const rest of [[reset], [hangUp], [silence], [write(failureEvent)], [write('data: {')]]) {
      upstream.answer([...whole, ...rest]);
      const outcome = await watched.ask(dialect, { stream: true });
      expect(outcome).toMatchObject({ status: 200, charged: 1, line: { end: 'complete' } });
      expect(outcome.text).not.toMatch(/"error":\{|not charged/);
    }
    // Nobody waits for the end of a connection that has no more to say.
    expect(await upstream.requests[2]?.closed).toBe('aborted');
  });
});

describe('a stream of chat', () => {
  const begun = wire.chat.events.slice(0, 2);
  const first = sse(begun.join(''));

  test('stands still', async () => {
    await using watched = await startWatchedGateway({ environment: { UPSTREAM_IDLE_TIMEOUT: '0.3' } });
    const { upstream } = watched.gateway;
    upstream.answer([...first, silence], [...first, write('data: {'), silence]);
    for (const index of [0, 1]) {
      const outcome = await watched.ask('chat', { stream: true });
      expectBreak('chat', outcome, begun, { ...slow, reason: 'stalled' });
      expect(await upstream.requests[index]?.closed).toBe('aborted');
    }
  });

  test('still flows when the request’s time is up', async () => {
    await using watched = await startWatchedGateway({ environment: { REQUEST_TIMEOUT: '0.5' } });
    const { upstream } = watched.gateway;
    upstream.answer([...first, silence]);
    const outcome = await watched.ask('chat', { stream: true });
    expectBreak('chat', outcome, begun, { ...slow, reason: 'deadline', charged: 1 });
    expect(await upstream.requests[0]?.closed).toBe('aborted');
  });

  test('still flows when the function’s own time is up: the last event still goes out', async () => {
    await using watched = await startWatchedGateway({ functionTimeout: 5_500 });
    watched.gateway.upstream.answer([...first, silence]);
    const outcome = await watched.ask('chat', { stream: true });
    expectBreak('chat', outcome, begun, { ...slow, reason: 'deadline', charged: 1 });
  });
});

describe('a stream of chat that has said how it finished, and then', () => {
  const finished = sse(wire.chat.events.slice(0, -1).join(''));

  testRows<[string, Script, Record<string, string>]>([
    ['is reset', [...finished, reset], {}],
    ['stands still', [...finished, silence], { UPSTREAM_IDLE_TIMEOUT: '0.3' }],
    ['reports a failure', [...finished, write(wire.chat.failureEvent), silence], {}],
  ])('breaks has nevertheless ended, and is charged', async (_name, script, environment) => {
    await using watched = await startWatchedGateway({ environment });
    watched.gateway.upstream.answer(script);
    const outcome = await watched.ask('chat', { stream: true });
    expect(outcome).toMatchObject({ status: 200, charged: 1, line: { end: 'complete' } });
    expect(outcome.text).toMatch(/"finish_reason":"stop"\}\]\}\n\n$/);
  });
});
