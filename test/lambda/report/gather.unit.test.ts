import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { flushed, gatherLines } from '../../../lambda/report/lines.ts';

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
