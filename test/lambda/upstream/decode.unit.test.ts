import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { decode } from '../../../lambda/upstream/decode.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

test('no more is decoded than is read, in any frame, and nothing once nobody reads', async () => {
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
