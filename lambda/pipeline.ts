import middy from '@middy/core';

/**
 * A step of a pipeline. Its type says what it needs of the request and what it adds, so that a step which comes too early does
 * not compile. Its other hooks may run when the request got no further than to the first step.
 */
export interface Step<Needs, Adds extends object, SoFar> {
  /** Returns what it adds to the request, which may be nothing, or throws the error to answer with. */
  readonly before?: (request: Needs) => Promise<Adds> | Adds;
  /** Runs once the handler has answered. */
  readonly after?: (request: SoFar) => Promise<void>;
  /** Sees the error of the handler or of any step. Returns the one that the steps before this one, and the client, see. */
  readonly onError?: (request: SoFar, error: unknown) => Promise<unknown>;
}

interface Pipeline<Start, Now, SoFar, Answer> {
  /** Adds a step, which finds in the request all that the steps before it have added. */
  step<Adds extends object>(step: Step<Now, Adds, SoFar>): Pipeline<Start, Now & Adds, SoFar, Answer>;
  handler(handle: (request: Now) => Promise<Answer>): (request: Start) => Promise<Answer>;
}

/** Opens a pipeline. Whatever is thrown in it goes through the steps in reverse order, and becomes an answer here. */
export function createPipeline<Start extends SoFar, SoFar extends object, Answer>(
  answerError: (request: SoFar, error: unknown) => Answer,
): Pipeline<Start, Start, SoFar, Answer> {
  // Without middy's timeout: it reads Lambda's context, which no step knows, and the exchange keeps the deadline.
  const run = middy<SoFar, Answer, unknown>({ timeoutEarlyInMillis: 0 });
  run.onError(async ({ event, error }) => answerError(event, error));

  const open = <Now>(): Pipeline<Start, Now, SoFar, Answer> => ({
    step<Adds extends object>({ before, after, onError }: Step<Now, Adds, SoFar>) {
      if (before) {
        run.before(async ({ event }) => {
          Object.assign(event, await before(event as unknown as Now));
        });
      }
      if (after) run.after(({ event }) => after(event));
      if (onError) {
        run.onError(async (failed) => {
          failed.error = await onError(failed.event, failed.error);
        });
      }
      return open<Now & Adds>();
    },
    handler(handle) {
      run.handler((request) => handle(request as unknown as Now));
      return (request) => run(request, noContext);
    },
  });
  return open<Start>();
}

const noContext = {} as Parameters<ReturnType<typeof middy>>[1];
