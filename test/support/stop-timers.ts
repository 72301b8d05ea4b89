import { jest } from '@jest/globals';

/** Timers that stand still until the test lets time pass. Disposing restores them. */
export interface StoppedTimers extends Disposable {
  pass(milliseconds: number): void;
}

/**
 * Stops the timers behind the product's time limits, so that tests don't depend on the machine's speed. Sockets and the
 * date go on. Start servers before and close them after: some use timers for that.
 */
export function stopTimers(): StoppedTimers {
  jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
  return {
    pass: (milliseconds) => jest.advanceTimersByTime(milliseconds),
    [Symbol.dispose]: () => jest.useRealTimers(),
  };
}
