import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { preludeOf } from './awslambda.ts';

/**
 * The stream that a function writes its response to. As on Lambda, the head leaves with the first write, even an empty
 * one, and a stream that ends without a write loses its head.
 */
export function createResponseStream(response: ServerResponse): Writable {
  const sendHead = (prelude = preludeOf(stream)) => {
    if (response.headersSent) return;
    response.statusCode = prelude?.statusCode ?? 200;
    if (!prelude) response.setHeader('content-type', 'application/octet-stream');
    for (const [name, value] of Object.entries(prelude?.headers ?? {})) response.setHeader(name, String(value));
    if (prelude?.cookies?.length) response.setHeader('set-cookie', prelude.cookies);
    response.flushHeaders();
  };
  const stream = new Writable({
    highWaterMark: 64 * 1024,
    write(chunk: Buffer, _encoding, done) {
      try {
        sendHead();
        if (chunk.length === 0 || response.write(chunk)) done();
        else response.once('drain', done);
      } catch (error) {
        // A head that HTTP can't express.
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    final(done) {
      sendHead({ headers: { 'content-type': 'application/octet-stream' } });
      response.end(done);
    },
  });
  // The function's own promise reports the failure; without this listener the process would end.
  stream.on('error', () => {});
  return stream;
}
