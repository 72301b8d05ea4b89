import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '../errors.ts';
import { readBytes } from '../http/bodies.ts';
import { createZstdDecoder, tooManyFrames } from '../http/decode-answer.ts';
import type { Body } from './incoming-request.ts';
import type { Memory } from './memory.ts';
import type { Encoding } from './read-body-text.ts';

/** Of zstd. Each frame needs a new decoder, and may be as short as nine bytes. */
const mostFrames = 1_000;

const faults: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'it breaks off',
  [tooManyFrames]: `it has more than ${mostFrames} frames`,
};

/** `bytesWritten` is what the decoder consumed: less than it was given if the stream ended early. */
type Decoder = Duplex & { readonly bytesWritten?: number };

const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecoder(mostFrames),
} satisfies Record<Encoding, () => Decoder>;

/** Decodes a body as a stream, so that a decompression bomb is refused as soon as it passes the limit. */
export async function decodeBody(
  body: Body,
  encoding: Encoding,
  limit: number,
  take?: Memory['take'],
): Promise<Buffer> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const decoder: Decoder = decoders[encoding]();
  decoder.end(bytes);
  const decoded = await readBytes(decoder, limit, take).catch((error) => {
    if (error instanceof GatewayError) throw error;
    if (error instanceof RangeError) {
      throw tooLarge(`The request body may have at most ${limit / 1_048_576} MiB when decoded. Send less.`);
    }
    if (error.code === 'ZSTD_error_frameParameter_windowTooLarge') {
      throw tooLarge('The zstd window of the request body may have 8 MiB at most. Compress it at a lower level.');
    }
    throw damaged(encoding, faults[error.code] ?? 'it is damaged');
  });
  const { bytesWritten = bytes.length } = decoder;
  if (bytesWritten < bytes.length) throw damaged(encoding, 'more follows after its end');
  return decoded;
}

function damaged(encoding: Encoding, how: string): GatewayError {
  return new GatewayError('invalid_request', `The body can't be decoded as ${encoding}: ${how}.`);
}

/** Refunded, because the charge comes before decoding. */
function tooLarge(message: string): GatewayError {
  return new GatewayError('request_too_large', message, { refund: true });
}
