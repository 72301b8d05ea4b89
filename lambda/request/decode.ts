import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { type Memory, readBytes } from '../bodies.ts';
import { GatewayError } from '../errors.ts';
import type { Encoding } from './body.ts';
import type { Body } from './call.ts';

/** A zstd frame may ask for a window of gigabytes. RFC 8878 recommends that decoders support 8 MiB. */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress(zstdWindow),
} satisfies Record<Encoding, () => Transform>;

/** Decodes a body portion by portion, so that one which unpacks to gigabytes is refused as soon as it passes the limit. */
export async function decodeBody(
  body: Body,
  encoding: Encoding,
  limit: number,
  take?: Memory['take'],
): Promise<Buffer> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const decoder = decoders[encoding]();
  decoder.end(bytes);
  const decoded = await readBytes(decoder, limit, take).catch((error) => {
    if (error instanceof GatewayError) throw error;
    if (error instanceof RangeError) {
      throw tooLarge(`The request body may have at most ${limit} bytes when decoded. Send less.`);
    }
    if (error.code === 'ZSTD_error_frameParameter_windowTooLarge') {
      throw tooLarge('The zstd window of the request body may have 8 MiB at most. Compress it at a lower level.');
    }
    throw damaged(encoding, error.code === 'Z_BUF_ERROR' ? 'it breaks off' : 'it is damaged');
  });
  if (decoder.bytesWritten < bytes.length) throw damaged(encoding, 'more follows after its end');
  return decoded;
}

function damaged(encoding: Encoding, how: string): GatewayError {
  return new GatewayError('invalid_request', `The body can't be decoded as ${encoding}: ${how}.`);
}

/** Refunded: the charge comes before the decoding. */
function tooLarge(message: string): GatewayError {
  return new GatewayError('request_too_large', message, { refund: true });
}
