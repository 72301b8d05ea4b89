import middy, { type MiddlewareObj, type Request } from '@middy/core';

/** A step of a pipeline: it works on the one growing request. */
export type Step<R, A> = MiddlewareObj<R, A>;
export type StepRequest<R, A> = Request<R, A>;

/** Runs a request through steps to a handler. After an error the steps run in reverse, so the first one has the last word. */
export function pipeline<R, A>(steps: readonly Step<R, A>[], handler: (request: R) => Promise<A>) {
  // Without middy's timeout: it reads Lambda's context, which no step knows, and the exchange keeps the deadline.
  const run = middy<R, A>({ timeoutEarlyInMillis: 0 })
    .use([...steps])
    .handler(handler);
  return (request: R): Promise<A> => run(request, noContext);
}

const noContext = {} as Parameters<ReturnType<typeof middy>>[1];
