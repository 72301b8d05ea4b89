import { GatewayError } from '../errors.ts';
import { createJobQueue } from '../jobs/queue.ts';

/**
 * Lets each caller count the tokens of only one long body at a time. Counting is free for the caller and takes seconds of CPU time,
 * so nobody should get twenty in parallel.
 */
export function createCountTurns() {
  const queue = createJobQueue({
    concurrency: Number.POSITIVE_INFINITY,
    concurrencyOfCaller: 1,
    waitTimeout: 2_000,
    mostWaiting: 100,
    refuse: stillCounting,
  });
  return {
    /** Creates a request's turn. */
    open(clientGone: AbortSignal, shutdownSignal: AbortSignal) {
      const answered = Promise.withResolvers<void>();
      return {
        /** Resolves when the turn begins. */
        wait: (caller: string) =>
          new Promise<void>((resolve, reject) => {
            const count = () => {
              resolve();
              return answered.promise;
            };
            const signal = AbortSignal.any([clientGone, shutdownSignal]);
            // If the client has left, this error only goes to the log.
            const refuse = (error: unknown) => reject(clientGone.aborted ? stillCounting() : error);
            queue.run({ caller, signal }, count).catch(refuse);
          }),
        /** Ends it. */
        over: answered.resolve,
      };
    },
  };
}

function stillCounting(): GatewayError {
  const message = 'The tokens of another long request of yours are still being counted.';
  const advice = 'Count one at a time.';
  return new GatewayError('rate_limited', message, { advice, headers: { 'retry-after': '1' }, reason: 'counting' });
}
