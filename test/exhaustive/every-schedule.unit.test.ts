import { expect, test } from '@jest/globals';
import { explore } from './explore.ts';
import { pairs } from './scenarios.ts';
import * as subject from './subject.ts';

// Tens of thousands of errors are thrown here, and capturing their stacks would take most of the time.
Error.stackTraceLimit = 0;

/*
 * Every way in which requests can share a counter, with a few faults in between: the real code, from the charge down to the
 * retries of a call, over a store in which every call waits for its turn. The invariants, checked after each step, are in
 * invariants.ts. The long tests take more requests and more faults.
 */
test('no schedule of two requests with up to one fault breaks a promise', async () => {
  let states = 0;
  for (const scenario of pairs) {
    const explored = await explore(subject, scenario, 1);
    expect(explored.violation).toBeUndefined();
    states += explored.states;
  }
  expect(states).toBeGreaterThan(1_000);
});
