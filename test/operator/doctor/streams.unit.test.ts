import { describe, expect, test } from '@jest/globals';
import { chatProbe } from '../../../operator/doctor/dialect-probes.ts';
import type { Arrival, Reply } from '../../../operator/doctor/probe.ts';
import {
  checkFirstEvent,
  checkPace,
  checkSilence,
  checkStream,
  readEvents,
  type TimedEvent,
} from '../../../operator/doctor/streams.ts';
import { testRows } from '../../support/test-rows.ts';

const eventsAt = (times: readonly number[]): TimedEvent[] =>
  times.map((at) => ({ at, begunAt: at, type: undefined, data: 'x', id: undefined }));
const series = (count: number, from: number, gap: number) => Array.from({ length: count }, (_, at) => from + at * gap);

/** A series behind a buffer that lets pieces out at fixed intervals. */
const everySoOften = (times: readonly number[], interval: number) =>
  times.map((at) => Math.ceil(at / interval) * interval);
const inBlocksOf = (times: readonly number[], size: number) =>
  times.map((_, index) => times[Math.min(times.length, (Math.floor(index / size) + 1) * size) - 1] ?? 0);

describe('a stream', () => {
  const paces: [string, readonly number[], 'ok' | 'fail' | 'untested'][] = [
    ['flows', series(40, 300, 20), 'ok'],
    ['flows after a long thought', series(40, 20_000, 10.5), 'ok'],
    ['flows slowly, a piece in 150 ms', series(40, 900, 150), 'ok'],
    ['flows fast, a piece in 3 ms', series(60, 300, 3), 'ok'],
    ['stalls for a moment while it flows', [...series(20, 300, 20), ...series(20, 3_000, 20)], 'ok'],
    ['was read late here and there', everySoOften(series(80, 300, 20), 60), 'untested'],
    ['comes three pieces at a time, as some models write', inBlocksOf(series(60, 300, 50), 3), 'untested'],
    ['comes at once in the end', series(40, 800, 0), 'fail'],
    ['comes at once in the end, over a long line', [...series(20, 900, 0), ...series(20, 1_100, 0)], 'fail'],
    ['comes at once in the end, in many small pieces', series(40, 800, 0.4), 'fail'],
    ['lets one piece pass and holds the rest', [20, ...series(39, 800, 0)], 'fail'],
    ['is held for 300 ms', everySoOften(series(60, 310, 20), 300), 'fail'],
    ['is held for 300 ms, from a slow model', everySoOften(series(60, 310, 60), 300), 'fail'],
    ['is held for 300 ms, from a very slow model', everySoOften(series(60, 310, 140), 300), 'untested'],
    ['is held until there are 4 KB', inBlocksOf(series(60, 300, 20), 21), 'fail'],
    ['is held until there are 4 KB, from a fast model', inBlocksOf(series(200, 300, 4), 21), 'untested'],
    ['is written faster than anyone could tell', series(40, 300, 1), 'untested'],
    ['is short', series(11, 100, 100), 'untested'],
    ['is empty', [], 'untested'],
  ];
  testRows(paces)('flows or is held, or it is too short or too fast to tell', (_how, times, mark) => {
    expect(checkPace(eventsAt(times)).mark).toBe(mark);
  });

  test('whose events arrive in halves is cut by something on the way', () => {
    const events = eventsAt(series(40, 300, 30)).map((event, index) =>
      index % 20 === 10 ? { ...event, begunAt: event.at - 60 } : event,
    );
    expect(checkPace(events)).toEqual({
      mark: 'fail',
      detail: '2 events came in two halves, far apart: something on the way cuts the stream',
    });
  });

  test('that is held back is reported with figures, and one that proves nothing with a remedy', () => {
    expect(checkPace(eventsAt(series(40, 800, 0))).detail).toMatch(
      /^40 pieces of text in 1 steps over 0 ms, after pauses of up to 800 ms: something on the way holds the stream back/,
    );
    expect(checkPace(eventsAt(series(40, 300, 1))).detail).toMatch(
      /^not tested: .* too fast to tell; .* --length 400$/,
    );
  });
});

test('an event begins with its first byte and has arrived with its last', () => {
  const arrivals = [
    [10, ': a comment\n\ndata: o'],
    [20, 'ne\n\n'],
    [30, 'data: two\n\ndata: three\n\n'],
    [40, 'data: four\n\ndata: '],
    [50, 'fi'],
    [60, 've\r\n\r\n'],
    [70, 'data: six\n\n'],
  ].map(([at, text]): Arrival => ({ at: Number(at), bytes: Buffer.from(String(text)) }));
  expect(readEvents(arrivals).map(({ begunAt, at, data }) => [begunAt, at, data])).toEqual([
    [10, 20, 'one'],
    [30, 30, 'two'],
    [30, 30, 'three'],
    [40, 40, 'four'],
    [40, 60, 'five'],
    [70, 70, 'six'],
  ]);
});

test('a person waits for the first event', () => {
  expect(checkFirstEvent(eventsAt([450.4]))).toEqual({ mark: 'ok', detail: 'after 450 ms' });
  expect(checkFirstEvent(eventsAt([12_000])).mark).toBe('note');
});

describe('a whole stream', () => {
  const events = (...data: string[]) => data.map((one) => `data: ${one}\n\n`).join('');
  const end = '[DONE]';
  const check = (text: string, headers: Record<string, string> = {}) => {
    const bytes = Buffer.from(text);
    const arrivals = [{ at: 1, bytes }];
    const all = new Headers({ 'content-type': 'text/event-stream', ...headers });
    return checkStream(
      { title: '', status: 200, headers: all, text, arrivals, duration: 2 },
      readEvents(arrivals),
      chatProbe,
    );
  };

  test('ends once, and loses and repeats nothing', () => {
    expect(check(events('{}', end))).toEqual({ mark: 'ok', detail: '2 events in 2 ms' });
    expect(check(events('{}')).detail).toMatch(/^it breaks off: its last event is /);
    expect(check(events('{}', '{}', end, end)).detail).toBe('it ends 2 times: something on the way repeats events');
    expect(check(events('{"sequence_number":0}', '{"sequence_number":2}', end)).detail).toMatch(
      /^event 2 follows event 0: something on the way loses events or swaps them$/,
    );
    expect(check(events(end), { 'content-type': 'text/plain' }).detail).toBe('content-type is text/plain');
  });

  test.each(['gzip', 'br', 'zstd', 'deflate'])('passes only uncompressed, and not as %s', (encoding) => {
    expect(check(events(end), { 'content-encoding': encoding })).toEqual({
      mark: 'fail',
      detail: `it is compressed (${encoding}), which holds events back`,
    });
  });
});

function streamOf(...pieces: readonly (readonly [at: number, text: string])[]): Reply {
  const text = pieces.map(([, piece]) => piece).join('');
  const arrivals = pieces.map(([at, piece]) => ({ at, bytes: Buffer.from(piece) }));
  return { title: 'POST /v1/messages', status: 200, headers: new Headers(), text, arrivals, duration: 0 };
}

const bridges: [string, Reply, 'ok' | 'fail' | 'untested', RegExp][] = [
  ['a keep-alive', streamOf([15_010, ': keep-alive\n\n'], [29_000, 'data: a\n\n']), 'ok', /longer than 15 s$/],
  ['a ping', streamOf([15_010, 'event: ping\ndata: {}\n\n'], [29_000, 'data: a\n\n']), 'ok', /longer than 15 s$/],
  ['nothing', streamOf([200, 'data: a\n\n'], [31_000, 'data: b\n\n']), 'fail', /: nothing came for 30\.8 s, not a/],
  ['no need', streamOf([200, ': keep-alive\n\n'], [9_000, 'data: b\n\n']), 'untested', /silent for 8\.8 s at most/],
];
testRows(bridges)('a silent model is bridged by keep-alives and pings', (_by, stream, mark, detail) => {
  const streams = [streamOf([100, 'data: c\n\n']), stream];
  expect(checkSilence(streams, { keepAlive: 15_000 })).toEqual({ mark, detail: expect.stringMatching(detail) });
});
