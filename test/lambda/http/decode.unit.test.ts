import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { decode } from '../../../lambda/http/decode-answer.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

test('decoding respects back-pressure in every frame, and stops when nobody reads', async () => {
  const [small, large] = [10, 100_000_000].map((size) => zstdCompressSync(Buffer.alloc(size)));
  const answer = new PassThrough();
  answer.end(Buffer.concat([small, large, large].filter((frame) => frame !== undefined)));
  const decoded = decode(answer, 'zstd');
  await once(decoded, 'readable');
  await turnEventLoop(2_000);
  expect(decoded.readableLength).toBeLessThan(300_000);
  let size = 0;
  for await (const bytes of decoded) {
    size += bytes.length;
    if (size > 110_000_000) break;
  }
  expect([decoded.destroyed, answer.destroyed]).toEqual([true, true]);
});

test.each([100, 30_000, 70_000])(
  'frames of %i bytes are read to the last, by a reader who takes his time',
  async (size) => {
    const frames = Array.from({ length: 30 }, (_, at) => Buffer.alloc(size, at));
    const answer = new PassThrough();
    answer.end(Buffer.concat(frames.map((frame) => zstdCompressSync(frame))));
    const read: Buffer[] = [];
    for await (const bytes of decode(answer, 'zstd')) {
      read.push(bytes);
      await turnEventLoop(20);
    }
    expect(Buffer.concat(read).equals(Buffer.concat(frames))).toBe(true);
  },
);

test.each([
  ['read', 23],
  ['refused', 24],
])('a frame is %s whose window is 2 ** %i bytes', async (outcome, windowLog) => {
  const encoder = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: windowLog } });
  encoder.end('thing');
  const decoded = decode(encoder, 'zstd').toArray();
  if (outcome === 'read') expect(String(await decoded)).toBe('thing');
  else await expect(decoded).rejects.toThrow('Frame requires too much memory');
});
