import { PassThrough, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { flushed, gatherLines } from '../../../lambda/report/log.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

/** A stream, and the contents of each write to the system. */
function record() {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      writes.push(text);
      done();
    },
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => chunk).join(''));
      done();
    },
  });
  return { stream, writes };
}

test('lines of one turn leave together and in order, those of the next by themselves', async () => {
  const { stream, writes } = record();
  const write = gatherLines(stream);
  for (const line of ['one\n', 'two\n']) write(line);
  await Promise.resolve().then(() => write('three\n'));
  expect(writes).toEqual([]);
  await setImmediate();
  expect(writes).toEqual(['one\ntwo\nthree\n']);
  write('four\n');
  await setImmediate();
  expect(writes).toEqual(['one\ntwo\nthree\n', 'four\n']);
});

test('a flush writes everything gathered so far', async () => {
  const { stream, writes } = record();
  gatherLines(stream)('last words\n');
  await flushed(stream, 60_000);
  expect(writes.join('')).toBe('last words\n');
});

describe('a flush', () => {
  test('waits until everything was taken', async () => {
    const slow = new PassThrough({ highWaterMark: 1 });
    slow.write('a line');
    slow.write('another');
    let over = false;
    const flushing = flushed(slow, 60_000).then(() => {
      over = true;
    });
    await setImmediate();
    expect(over).toBe(false);
    slow.resume();
    await flushing;
  });

  test('waits no longer than allowed if nobody takes anything', async () => {
    await flushed(new Writable({ write: () => {} }), 1);
  });

  test('does not wait for a reader that has gone', async () => {
    const gone = new PassThrough();
    gone.on('error', () => {});
    gone.destroy(new Error('EPIPE'));
    using _timers = stopTimers(); // so that the time limit never comes
    let over = false;
    flushed(gone, 60_000).then(() => {
      over = true;
    });
    await turnEventLoop(5);
    expect(over).toBe(true);
  });
});
