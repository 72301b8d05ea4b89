import type { Writable } from 'node:stream';

/** The head of a response, which a streaming function hands over before its first write. */
export interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
  readonly cookies?: readonly string[];
}

const preludes = new WeakMap<Writable, Prelude>();

/** The head that the function gave for a stream, if it has given one. */
export function preludeOf(stream: Writable): Prelude | undefined {
  return preludes.get(stream);
}

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
