import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';

/** The status and headers of a response, which a streaming function sets before its first write. */
interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
}

const preludes = new WeakMap<Writable, Prelude>();

/**
 * Installs the global that Lambda's runtime offers to streaming functions. It must exist before the function's module is
 * imported. The AWS SDK uses the same object, so it is extended, not replaced.
 */
export function installAwslambda(): void {
  const existing: unknown = Reflect.get(globalThis, 'awslambda');
  const awslambda = typeof existing === 'object' && existing !== null ? existing : {};
  Object.assign(awslambda, {
    streamifyResponse: <H>(handler: H): H => handler,
    HttpResponseStream: {
      from(stream: Writable, prelude: Prelude): Writable {
        preludes.set(stream, prelude);
        return stream;
      },
    },
  });
  Reflect.set(globalThis, 'awslambda', awslambda);
}

/**
 * The stream that a function writes its response to. As on Lambda, the head leaves with the first write, even an empty
 * one, and a stream that ends without a write loses its head.
 */
export function createResponseStream(response: ServerResponse): Writable {
  const sendHead = (prelude = preludes.get(stream)) => {
    if (response.headersSent) return;
    response.statusCode = prelude?.statusCode ?? 200;
    if (!prelude) response.setHeader('content-type', 'application/octet-stream');
    for (const [name, value] of Object.entries(prelude?.headers ?? {})) response.setHeader(name, String(value));
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
