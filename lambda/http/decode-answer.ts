import { Duplex, pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const decoders = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
  ['zstd', () => createZstdDecoder()],
]);

/** The body of an answer with this `content-encoding`, decoded; as it is if the encoding is not known. */
export function decode(answer: Readable, encoding: string): Readable {
  const createDecoder = decoders.get(encoding.trim().toLowerCase());
  // Whatever ends one of the two ends the other, and its reader sees the error.
  return createDecoder ? pipeline(answer, createDecoder(), () => {}) : answer;
}

/** No window may be larger than 8 MiB (RFC 9659). */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

export const tooManyFrames = 'TOO_MANY_FRAMES';

/**
 * Decodes any number of frames, or as many as are allowed. Node's decoder ends after the first of those that one write brings, so that
 * another takes the rest.
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
        // Not before all of it is read.
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
