import { jest } from '@jest/globals';

/** Timers that stand still until a test lets time pass; disposing of it sets them going again. */
export interface StoppedTimers extends Disposable {
  pass(milliseconds: number): void;
}

/**
 * Stops what the product measures its limits by, so that no test depends on how fast the machine is. Sockets go on, and so
 * does the date. Servers are started before and closed after: some wait on timers for that.
 */
export function stopTimers(): StoppedTimers {
  jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
  return {
    pass: (milliseconds) => jest.advanceTimersByTime(milliseconds),
    [Symbol.dispose]: () => jest.useRealTimers(),
  };
}
