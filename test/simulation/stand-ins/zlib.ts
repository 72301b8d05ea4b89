import { Transform } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

export { constants } from 'node:zlib';

/** Decodes in place what Node decodes in threads, whose order nobody decides. */
const inPlace = (decode: (bytes: Buffer) => Buffer) => () => {
  const pieces: Buffer[] = [];
  const decoder = new Transform({
    transform(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
    flush(done) {
      try {
        done(null, decode(Buffer.concat(pieces)));
      } catch (error) {
        done(error as Error);
      }
    },
  });
  return Object.defineProperty(decoder, 'bytesWritten', { get: () => Buffer.concat(pieces).length });
};

export const createGunzip = inPlace(gunzipSync);
export const createInflate = inPlace(inflateSync);
export const createBrotliDecompress = inPlace(brotliDecompressSync);
export const createZstdDecompress = inPlace(zstdDecompressSync);
