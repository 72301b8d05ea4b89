import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { withinFirstEventLimit } from '../../../lambda/upstream/first-event.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';

/** A stream whose first event is awaited, and the signal passed to its upstream. */
function waitFor(signal = new AbortController().signal) {
  const body = new PassThrough();
  const given: AbortSignal[] = [];
  const waiting = withinFirstEventLimit(20_000, signal, async (until) => {
    given.push(until);
    return { body };
  });
  const outcome = waiting.then(
    () => 'begun',
    ({ kind }) => kind,
  );
  return { body, given, waiting, outcome };
}

/** Waits until everything written has been read. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

testRows([
  [[]],
  [[': hi\n\n']],
  [['event: ping\ndata: {"type": "ping"}\n\n']],
  [['da']],
  [['id: 1\nevent: message\n']],
  [['event: ping\r\n', 'data: {}\r', '\n\r\n', 'data: {"type":"pi', 'ng"}\n\n', 'data:\n\n']],
  // A flood without an event.
  [Array(3_000).fill(`: ${'x'.repeat(40)}\n\n`)],
  [[`: ${'x'.repeat(200_000)}`, 'x'.repeat(200_000)]],
  [Array(3_000).fill('event: ping\ndata: {"type":"ping"}\n\n')],
  [Array(10_000).fill('event: a\nnothing\n')],
])('an upstream is late that has sent no event', async (written) => {
  using timers = stopTimers();
  const { body, given, outcome } = waitFor();
  for (const one of written) body.write(one);
  await settled();
  timers.pass(19_999);
  expect(given[0]?.aborted).toBe(false);
  timers.pass(1);
  // The connection is cut.
  expect(given[0]?.aborted).toBe(true);
  body.destroy();
  expect(await outcome).toBe('late');
});

testRows([
  [['data: {"a": 1}\n\n']],
  [[': hi\r\n\r\n', 'da', 'ta:', ' {"b": "é"}\r\n\r\n']],
  [['event: ping\ndata: {"type":"ping"}\n\n', 'data: {"type": "message_start"}\n\n']],
  [['event: a\n', `data: "${'x'.repeat(1_024)}`, 'x"\n\n']],
  [[`: ${'x'.repeat(60_000)}\n\n`, 'data: 1\n\n']],
])('what was read while it was waited for is put back, byte for byte', async (written) => {
  using timers = stopTimers();
  const { body, outcome, waiting } = waitFor();
  for (const one of written) {
    body.write(one);
    await settled();
  }
  expect(await outcome).toBe('begun');
  timers.pass(100_000);
  const reading = text((await waiting).body);
  body.end('data: [DONE]\n\n');
  expect(await reading).toBe(`${written.join('')}data: [DONE]\n\n`);
});

test('of a flood without an event, only the end is kept', async () => {
  using timers = stopTimers();
  for (const [flood, kept] of [
    [`: ${'x'.repeat(40)}\n\n`.repeat(10_000), 70_000],
    [`: ${'x'.repeat(1_000_000)}\n\n`, 70_000],
    ['event: a\nnothing\n'.repeat(100_000), 140_000],
  ] as const) {
    const { body, outcome, waiting } = waitFor();
    for (let at = 0; at < flood.length; at += 10_000) {
      body.write(flood.slice(at, at + 10_000));
      await settled();
    }
    body.write('\nevent: b\ndata: {"c": 1}\n\n');
    expect(await outcome).toBe('begun');
    const reading = text((await waiting).body);
    body.end();
    const put = await reading;
    expect(put).toMatch(/\n\nevent: b\ndata: \{"c": 1\}\n\n$/);
    expect(put.length).toBeLessThan(kept);
  }
  timers.pass(100_000);
});

test('an end or an error before the first event makes the answer unusable, as without a limit', async () => {
  const [ended, broken] = [waitFor(), waitFor()];
  ended.body.end(': hi\n\n');
  broken.body.destroy(new Error('reset'));
  expect([await ended.outcome, await broken.outcome]).toEqual(['unusable', 'unusable']);
});

test('an aborted request does not count as late', async () => {
  using timers = stopTimers();
  const leaving = new AbortController();
  const { body, given, outcome } = waitFor(leaving.signal);
  await settled();
  leaving.abort();
  expect(given[0]?.aborted).toBe(true);
  timers.pass(100_000);
  body.destroy();
  expect(await outcome).not.toBe('late');
});
