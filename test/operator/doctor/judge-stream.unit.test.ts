import { describe, expect, test } from '@jest/globals';
import {
  judgeFirstEvent,
  judgeIncremental,
  readEvents,
  type TimedEvent,
} from '../../../operator/doctor/judge-stream.ts';
import type { Arrival } from '../../../operator/doctor/probe.ts';

const eventsAt = (times: readonly number[]): TimedEvent[] =>
  times.map((at) => ({ at, type: undefined, data: 'x', id: undefined }));
const series = (count: number, from: number, gap: number) => Array.from({ length: count }, (_, at) => from + at * gap);

describe('a stream', () => {
  test.each<[string, readonly number[], 'ok' | 'fail' | 'note']>([
    ['flows', series(40, 300, 20), 'ok'],
    ['flows after a long thought', series(40, 20_000, 10), 'ok'],
    ['flows in groups of ten', series(60, 100, 1).map((at, index) => at + 200 * Math.floor(index / 10)), 'ok'],
    ['comes at once in the end', series(40, 800, 0), 'fail'],
    ['comes at once in the end, over a long line', [...series(20, 900, 0), ...series(20, 1_100, 0)], 'fail'],
    ['comes at once in the end, in many small pieces', series(40, 800, 0.4), 'fail'],
    ['is written faster than anyone could tell', series(40, 20, 1), 'note'],
    ['is short', series(7, 100, 100), 'note'],
    ['is empty', [], 'note'],
  ])('that %s', (_name, times, mark) => {
    expect(judgeIncremental(eventsAt(times)).mark).toBe(mark);
  });

  test('that is held back is told in figures', () => {
    expect(judgeIncremental(eventsAt(series(40, 800, 0))).detail).toBe(
      '40 events in 1 steps over 0 ms, the first after 800 ms: something on the way holds the stream back',
    );
  });
});

test('an event has come when its last byte has', () => {
  const arrivals = [
    [10, ': a comment\n\ndata: o'],
    [20, 'ne\n\n'],
    [30, 'data: two\n\ndata: three\n\n'],
  ].map(([at, text]): Arrival => ({ at: Number(at), bytes: Buffer.from(String(text)) }));
  const events = readEvents({ arrivals });
  expect(events.map(({ at, data }) => [at, data])).toEqual([
    [20, 'one'],
    [30, 'two'],
    [30, 'three'],
  ]);
});

test('a person waits for the first event', () => {
  expect(judgeFirstEvent(eventsAt([450.4]))).toEqual({ mark: 'ok', detail: 'after 450 ms' });
  expect(judgeFirstEvent(eventsAt([12_000])).mark).toBe('note');
});
