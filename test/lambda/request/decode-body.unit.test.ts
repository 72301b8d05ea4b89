import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, constants, createZstdCompress, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { decodeBody } from '../../../lambda/request/decode-body.ts';
import { readEncoding } from '../../../lambda/request/read-body-text.ts';
import { testRows } from '../../support/test-rows.ts';

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync } as const;
const encodings = Object.keys(encoders) as (keyof typeof encoders)[];
const limit = 6_291_456;

describe.each(encodings)('%s', (encoding) => {
  const encode = encoders[encoding];

  testRows(['{"model":"svc"}', 'aé€🌩'.repeat(20_000), ''])('gives back what was encoded', async (text) => {
    expect(String(await decodeBody(encode(Buffer.from(text)), encoding, limit)) === text).toBe(true);
  });

  test('accepts a body of exactly the limit and not a byte more', async () => {
    expect(await decodeBody(encode(Buffer.alloc(1_000_000, 'a')), encoding, 1_000_000)).toHaveLength(1_000_000);
    const refusal = { code: 'request_too_large', refund: true };
    await expect(decodeBody(encode(Buffer.alloc(1_000_001)), encoding, 1_000_000)).rejects.toMatchObject(refusal);
  });

  test('a body that is truncated, corrupt or followed by more is refused', async () => {
    const body = encode(Buffer.from('{"model":"svc"}'.repeat(100)));
    for (const wrong of [
      body.subarray(0, -2),
      Buffer.from('no such thing'),
      Buffer.concat([body, Buffer.from('more')]),
    ]) {
      await expect(decodeBody(wrong, encoding, limit)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(new RegExp(`^The body can't be decoded as ${encoding}: `)),
      });
    }
  });
});

testRows<keyof typeof encoders>(['gzip', 'zstd'])(
  'a body of several parts is decoded to the last',
  async (encoding) => {
    const parts = ['{"model":', '"', '', 's'.repeat(100_000), 'vc"}'];
    const body = Buffer.concat(parts.map((part) => encoders[encoding](Buffer.from(part))));
    expect(String(await decodeBody(body, encoding, limit)) === parts.join('')).toBe(true);
    const broken = decodeBody(body.subarray(0, -2), encoding, limit);
    await expect(broken).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(decodeBody(body, encoding, 100_000)).rejects.toMatchObject({ code: 'request_too_large' });
  },
);

test('a skippable zstd frame is skipped', async () => {
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);
  const body = Buffer.concat([skippable, zstdCompressSync('{}'), skippable]);
  expect(String(await decodeBody(body, 'zstd', limit))).toBe('{}');
});

test('with too many frames, only the first ones are decoded', async () => {
  const frames = (number: number) => Buffer.concat(Array.from({ length: number }, () => zstdCompressSync('a')));
  expect(await decodeBody(frames(1_000), 'zstd', limit)).toHaveLength(1_000);
  let decoded = 0;
  const count = (bytes: number) => {
    decoded += bytes;
  };
  await expect(decodeBody(frames(2_000), 'zstd', limit, count)).rejects.toMatchObject({
    code: 'invalid_request',
    message: "The body can't be decoded as zstd: it has more than 1000 frames.",
  });
  expect(decoded).toBeLessThanOrEqual(1_000);
});

testRows(encodings)('is decoded as a stream, and takes memory before each chunk is added', async (encoding) => {
  const body = encoders[encoding](Buffer.alloc(1_000_000, 'a'));
  const taken: number[] = [];
  await decodeBody(body, encoding, limit, (bytes) => taken.push(bytes));
  expect(taken.reduce((sum, bytes) => sum + bytes, 0)).toBe(1_000_000);
  expect(Math.max(...taken)).toBeLessThanOrEqual(128 * 1024);
  const noRoom = new GatewayError('service_unavailable', 'no room');
  let asked = 0;
  const refuse = () => {
    asked += 1;
    throw noRoom;
  };
  await expect(decodeBody(body, encoding, limit, refuse)).rejects.toBe(noRoom);
  expect(asked).toBe(1);
});

test('a zstd frame that looks further back than 8 MiB is too large', async () => {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 24 } });
  compress.write(Buffer.alloc(1_000));
  compress.end(Buffer.alloc(9 << 20));
  await expect(decodeBody(await buffer(compress), 'zstd', 64 << 20)).rejects.toMatchObject({
    code: 'request_too_large',
    refund: true,
  });
});

test('compressed bytes that a platform has passed as text are still treated as bytes', async () => {
  // The shortest of all, as hardly another one is UTF-8 by chance.
  const empty = Buffer.from([6]);
  expect(await decodeBody(empty.toString('utf8'), 'br', limit)).toHaveLength(0);
});

describe('readEncoding', () => {
  testRows([
    [undefined, 'identity'],
    ['', 'identity'],
    [' Identity ', 'identity'],
    ['GZIP', 'gzip'],
    [' zstd', 'zstd'],
  ])('a header names encodings', (header, encoding) => {
    expect(readEncoding(header)).toBe(encoding);
  });

  testRows(['gzip, gzip', 'gzip, identity', 'compress', 'x-gzip', 'constructor', 'aws-chunked'])(
    'any other is none',
    (header) => {
      expect(readEncoding(header)).toBeUndefined();
    },
  );
});
