import { Duplex, pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const decoders = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
  ['zstd', () => createZstdDecoder()],
]);

/** Decodes a body with this `content-encoding`; returns it unchanged if the encoding is unknown. */
export function decode(answer: Readable, encoding: string): Readable {
  const createDecoder = decoders.get(encoding.trim().toLowerCase());
  // `pipeline` destroys both if one fails, and the reader sees the error.
  return createDecoder ? pipeline(answer, createDecoder(), () => {}) : answer;
}

/** The largest window allowed, 8 MiB (RFC 9659). */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

export const tooManyFrames = 'TOO_MANY_FRAMES';

/**
 * Decodes up to `mostFrames` frames. Node's decoder stops at the end of the first frame in a write, so a new one takes over the rest.
 */
export function createZstdDecoder(mostFrames = Infinity): Duplex {
  let frames = 0;
  let current = open();
  const decoder = new Duplex({
    read: () => current.resume(),
    write(bytes: Buffer, encoding, done) {
      const frame = current;
      const before = frame.bytesWritten;
      frame.write(bytes, (error) => {
        const rest = bytes.subarray(frame.bytesWritten - before);
        if (error || rest.length === 0) return done(error);
        const goOn = () => {
          if (frames === mostFrames) return done(Object.assign(new Error('too many frames'), { code: tooManyFrames }));
          current = open();
          frame.destroy();
          decoder._write(rest, encoding, done);
        };
        // Not before the frame has been read.
        if (frame.readableEnded) goOn();
        else frame.once('end', goOn);
      });
    },
    final(done) {
      current.once('end', () => {
        decoder.push(null);
        done();
      });
      current.end();
    },
    destroy(error, done) {
      current.destroy();
      done(error);
    },
  });
  return decoder;

  function open() {
    frames += 1;
    const opened = createZstdDecompress(zstdWindow);
    opened.on('data', (bytes) => decoder.push(bytes) || opened.pause());
    opened.on('error', (error) => decoder.destroy(error));
    return opened;
  }
}
