import { isUtf8 } from 'node:buffer';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { type Memory, readBytes } from '../bodies.ts';
import { GatewayError } from '../errors.ts';
import { type Cooperative, isLong } from '../json/cooperative.ts';
import { createScanner, type Json } from '../json/scan.ts';
import { JsonFault } from '../json/tokens.ts';
import type { Body } from './call.ts';

/** Only an attacker sends more: no dialect has a hundred. Each is compared with every name that the gateway knows. */
const mostMembers = 1_000;

/** The scanned body of a request, which must be one JSON object in UTF-8. */
export function* readJsonBody(body: Body): Cooperative<Json> {
  if (isLong(body)) yield;
  const text = typeof body === 'string' ? body : toText(body);
  if (!/\S/.test(text)) throw new GatewayError('invalid_request', 'The body is empty: send a JSON object.');
  try {
    const scanner = createScanner();
    const json = isLong(text) ? yield* scanner.scanInParts(text) : scanner.scan(text);
    if (json.kind(json.root) === 'object') return refuseTooMany(json);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw new GatewayError('invalid_request', `The body is not valid JSON: ${error.message}.`);
  }
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function refuseTooMany(body: Json): Json {
  let members = 0;
  for (const _ of body.keys(body.root)) {
    members += 1;
    if (members <= mostMembers) continue;
    throw new GatewayError(
      'invalid_request',
      `The body has more than ${mostMembers} fields at its top level. Send fewer.`,
    );
  }
  return body;
}

function toText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** A zstd frame may ask for a window of gigabytes. RFC 8878 recommends that decoders support 8 MiB. */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress(zstdWindow),
} as const;

export type Encoding = keyof typeof decoders;

/** The encoding that a `content-encoding` names; undefined if it is not supported. */
export function readEncoding(header: string | undefined): Encoding | 'identity' | undefined {
  const name = header?.trim().toLowerCase() || 'identity';
  return name === 'identity' || Object.hasOwn(decoders, name) ? (name as Encoding | 'identity') : undefined;
}

export function unsupportedEncoding(): GatewayError {
  const known = Object.keys(decoders).join(', ');
  return new GatewayError('unsupported_encoding', `The content-encoding must be one of ${known}, once, or none.`);
}

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
