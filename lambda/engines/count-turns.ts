import { GatewayError } from '../errors.ts';
import { createJobQueue } from '../jobs/queue.ts';

/**
 * Lets each caller count the tokens of one long body at a time: that costs seconds of work, is free, and so may not be had twenty times
 * at once.
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
    /** Opens the turn of a request. */
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
            // What a client is told that has left, only the log shows.
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
