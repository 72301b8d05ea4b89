import { jest } from '@jest/globals';

/** Fake timers that stand still until the test advances them. Disposing restores the real ones. */
export interface StoppedTimers extends Disposable {
  pass(milliseconds: number): void;
}

/**
 * Replaces the timers behind the product's timeouts with fake ones, so that tests don't depend on the machine's speed. Sockets
 * and the date are real. Start servers before and close them after, because some use timers for that.
 */
export function stopTimers(): StoppedTimers {
  jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
  return {
    pass: (milliseconds) => jest.advanceTimersByTime(milliseconds),
    [Symbol.dispose]: () => jest.useRealTimers(),
  };
}
