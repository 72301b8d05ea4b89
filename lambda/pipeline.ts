import middy from '@middy/core';

/**
 * A middleware. Its type says what it needs from the request and what it adds, so that a step in the wrong place does not compile.
 * `after` and `onError` must not rely on that: they also run for a request that failed in an earlier step.
 *
 * @example
 * // Needs nothing, adds `input`.
 * pipeline.step({ before: async (request) => ({ input: await readInput(request) }) });
 */
export interface Step<Needs, Adds extends object, SoFar> {
  /** Returns what it adds to the request, which may be nothing. Throws to end the request with that error. */
  readonly before?: (request: Needs) => Promise<Adds> | Adds;
  /** Runs once the handler has answered. */
  readonly after?: (request: SoFar) => Promise<void>;
  /** Sees the error of the handler or of any step. Returns the error that earlier steps and the client get to see. */
  readonly onError?: (request: SoFar, error: unknown) => Promise<unknown>;
}

interface Pipeline<Start, Now, SoFar, Answer> {
  /** Adds a step. It finds in the request whatever earlier steps have added. */
  step<Adds extends object>(step: Step<Now, Adds, SoFar>): Pipeline<Start, Now & Adds, SoFar, Answer>;
  handler(handle: (request: Now) => Promise<Answer>): (request: Start) => Promise<Answer>;
}

/** Opens a pipeline. An error passes through the `onError` of all steps in reverse order, and `answerError` turns it into a response. */
export function createPipeline<Start extends SoFar, SoFar extends object, Answer>(
  answerError: (request: SoFar, error: unknown) => Answer,
): Pipeline<Start, Start, SoFar, Answer> {
  // No middy timeout: it reads Lambda's context, which steps don't have. The upstream attempt watches the deadline.
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
