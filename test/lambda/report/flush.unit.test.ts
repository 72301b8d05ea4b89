import { PassThrough, Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { flushed } from '../../../lambda/report/lines.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

test('waits until everything was taken', async () => {
  const slow = new PassThrough({ highWaterMark: 1 });
  slow.write('a line');
  slow.write('another');
  let over = false;
  const flushing = flushed(slow, 60_000).then(() => {
    over = true;
  });
  await new Promise(setImmediate);
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
