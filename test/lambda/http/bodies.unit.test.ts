import { once } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { readBytes, writeBody } from '../../../lambda/http/bodies.ts';
import { discard } from '../../../lambda/upstream/http-client.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime } from '../../support/wait-until.ts';

describe('a body that is read', () => {
  const body = () => Readable.from([Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1), Buffer.from('abc')]);

  test('is complete up to the limit, even if a character is split between chunks', async () => {
    expect(String(await readBytes(body(), 5))).toBe('éabc');
    expect(await readBytes(Readable.from([]), 0)).toHaveLength(0);
  });

  test('is dropped above the limit', async () => {
    const long = body();
    await expect(readBytes(long, 4)).rejects.toThrow(new RangeError('the body is longer than 4 bytes'));
    expect(long.destroyed).toBe(true);
  });
});

describe('a discarded body', () => {
  test('is drained if it ends soon', async () => {
    using timers = stopTimers();
    const body = new PassThrough();
    discard(body);
    timers.pass(999);
    body.end(Buffer.alloc(1_000_000));
    await inTime(once(body, 'close'), 'the body is let go of');
    expect([body.readableEnded, body.errored]).toEqual([true, null]);
  });

  test('is cut after a second, and its errors are ignored', async () => {
    using timers = stopTimers();
    const [silent, failing] = [new PassThrough(), new PassThrough()];
    discard(silent);
    discard(failing);
    failing.destroy(new Error('reset'));
    await setImmediate();
    timers.pass(999);
    expect(silent.destroyed).toBe(false);
    timers.pass(1);
    expect(silent.destroyed).toBe(true);
  });
});

describe('a body that is written', () => {
  /** A connection that takes chunks one by one, when the test says so. */
  function createTaker() {
    const taken: string[] = [];
    const releases: (() => void)[] = [];
    const connection = new Writable({
      decodeStrings: false,
      highWaterMark: 1,
      write(piece, _encoding, done) {
        taken.push(String(piece));
        releases.push(done);
      },
    });
    return { connection, taken, releases };
  }

  testRows([
    ['a short one in one write', ['{"a":', '1}'], ['{"a":1}']],
    ['one that is too long to join, piece by piece', ['x'.repeat(16_384), 'y'], ['x'.repeat(16_384), 'y']],
    ['a long piece in portions', ['x'.repeat(1_048_577)], ['x'.repeat(1_048_576), 'x']],
    ['no half of a character', [`${'x'.repeat(1_048_575)}\u{1f642}y`], [`${'x'.repeat(1_048_575)}\u{1f642}`, 'y']],
  ])('leaves in as few writes as may be, none of them long', async (_name, pieces, writes) => {
    const { connection, taken, releases } = createTaker();
    writeBody(connection, pieces);
    for (const [index] of writes.entries()) {
      await setImmediate();
      expect(taken).toEqual(writes.slice(0, index + 1));
      expect(connection.writableEnded && index < writes.length - 1).toBe(false);
      releases[index]?.();
    }
    await inTime(finished(connection), 'the body has ended');
    expect(taken).toEqual(writes);
  });
});
