import { expect, test } from '@jest/globals';
import { checkPace, readEvents } from '../../../operator/doctor/streams.ts';
import { testRows } from '../../support/test-rows.ts';

const eventsAt = (times: readonly number[]) => times.map((at) => ({ at }));
const series = (count: number, from: number, gap: number) => Array.from({ length: count }, (_, at) => from + at * gap);

/** A series behind a buffer that lets pieces out at fixed intervals, or when there are so many. */
const everySoOften = (times: readonly number[], interval: number) =>
  times.map((at) => Math.ceil(at / interval) * interval);
const inBlocksOf = (times: readonly number[], size: number) =>
  times.map((_, index) => times[Math.min(times.length, (Math.floor(index / size) + 1) * size) - 1] ?? 0);

const paces: [string, readonly number[], 'ok' | 'fail' | 'untested'][] = [
  ['flows', series(40, 300, 20), 'ok'],
  ['flows after a long thought', series(40, 20_000, 10.5), 'ok'],
  ['flows slowly, a piece in 150 ms', series(40, 900, 150), 'ok'],
  ['flows fast, a piece in 3 ms', series(60, 300, 3), 'ok'],
  ['stalls for a moment while it flows', [...series(20, 300, 20), ...series(20, 3_000, 20)], 'ok'],
  ['comes three pieces at a time, as some models write', inBlocksOf(series(60, 300, 50), 3), 'ok'],
  ['comes at once in the end', series(40, 800, 0), 'fail'],
  ['comes at once in the end, over a long line', [...series(20, 900, 0), ...series(20, 1_100, 0)], 'fail'],
  ['lets one piece pass and holds the rest', [20, ...series(39, 800, 0)], 'fail'],
  ['is held for 300 ms', everySoOften(series(60, 310, 20), 300), 'fail'],
  ['is held until there are 4 KB', inBlocksOf(series(60, 300, 20), 21), 'fail'],
  ['is written faster than anyone could tell', series(40, 300, 0.1), 'fail'],
  ['is written at once without a pause', series(40, 30, 0.1), 'untested'],
  ['is short', series(11, 100, 100), 'untested'],
  ['is empty', [], 'untested'],
];
testRows(paces)('a stream flows or is held, or it is too short or too fast to tell', (_how, times, mark) => {
  expect(checkPace(eventsAt(times)).mark).toBe(mark);
});

test('an event has arrived with its last byte', () => {
  const arrivals = [
    { at: 10, bytes: Buffer.from(': a comment\n\ndata: o') },
    { at: 20, bytes: Buffer.from('ne\n\n') },
    { at: 30, bytes: Buffer.from('data: two\n\ndata: three\n\n') },
  ];
  expect(readEvents({ arrivals }).map(({ at, data }) => [at, data])).toEqual([
    [20, 'one'],
    [30, 'two'],
    [30, 'three'],
  ]);
});
