import middy, { type MiddlewareObj, type Request } from '@middy/core';

/** A step of a pipeline: it works on the one growing request. */
export type Step<R, A> = MiddlewareObj<R, A>;
export type StepRequest<R, A> = Request<R, A>;

/** Runs a request through steps to a handler; on an error the steps are asked in reverse, and the first has the last word. */
export function pipeline<R, A>(steps: readonly Step<R, A>[], handler: (request: R) => Promise<A>) {
  // No step is told of a platform, and what that one would limit in time, the exchange does.
  const run = middy<R, A>({ timeoutEarlyInMillis: 0 })
    .use([...steps])
    .handler(handler);
  return (request: R): Promise<A> => run(request, noContext);
}

const noContext = {} as Parameters<ReturnType<typeof middy>>[1];
