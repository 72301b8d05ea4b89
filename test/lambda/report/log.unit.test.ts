import { PassThrough, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { describeCause, flushed, gatherLines } from '../../../lambda/report/log.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime, turnEventLoop } from '../../support/wait-until.ts';

describe('a cause in the log', () => {
  test('is logged by its kind and origin', () => {
    const { at, ...rest } = describeCause(Object.assign(new RangeError('secret'), { code: 'ECODE' }));
    expect(rest).toEqual({ cause: 'RangeError', causeCode: 'ECODE' });
    expect(at).toEqual(expect.arrayContaining([expect.stringMatching(/^at .*log\.unit\.test\.ts:\d+:\d+/)]));
  });

  testRows(['secret', 'no\n    at secret (secret:1:1)\n    at secret', '', 'Error', '\n    at '])(
    'is never its message',
    (message) => {
      const known = describeCause(new Error('x'));
      const described = JSON.stringify(describeCause(new Error(message)));
      expect(described).not.toMatch('secret');
      expect(JSON.parse(described).at).toHaveLength(Array(known.at).flat().length);
    },
  );

  test('has no part of a message that was changed afterwards', () => {
    const error = new Error('no\n    at secret');
    expect(error.stack).toMatch('secret'); // written down when first read
    error.message = 'other';
    expect(JSON.stringify(describeCause(error))).not.toMatch('secret');
  });

  test('is its type if it is not an error', () => {
    expect(describeCause('secret')).toEqual({ cause: 'string' });
    expect(describeCause(undefined)).toEqual({});
  });
});

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

test('lines of one event loop turn are written together and in order, those of the next separately', async () => {
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

describe('a flush', () => {
  test('waits until everything written so far is flushed', async () => {
    const slow = new PassThrough({ highWaterMark: 1 });
    gatherLines(slow)('last words\n');
    const { promise: over, resolve } = Promise.withResolvers<string>();
    flushed(slow, 60_000).then(() => resolve('taken'));
    await turnEventLoop(5);
    expect(await Promise.race([over, 'waiting'])).toBe('waiting');
    slow.resume();
    expect(await over).toBe('taken');
  });

  test('times out if nobody reads', async () => {
    await flushed(new Writable({ write: () => {} }), 1);
  });

  test('does not wait for a closed pipe', async () => {
    const gone = new PassThrough();
    gone.on('error', () => {});
    gone.destroy(new Error('EPIPE'));
    await inTime(flushed(gone, 600_000), 'it is over');
  });
});
