import { expect, test } from '@jest/globals';
import { explore } from './explore.ts';
import { pairs, triples } from './scenarios.ts';
import * as subject from './subject.ts';

// Tens of thousands of errors are thrown here, and capturing their stacks would take most of the time.
Error.stackTraceLimit = 0;

/*
 * Every way in which requests can share a counter, with a few faults in between: the real code, from the charge down to the
 * retries of a call, over a store in which every call waits for its turn. The invariants, checked after each step, are in
 * invariants.ts.
 */
test.each([
  ['two requests with up to two faults', pairs, 2],
  ['three requests with up to one fault', triples, 1],
])('no schedule of %s breaks a promise', async (name, scenarios, faults) => {
  let states = 0;
  for (const scenario of scenarios) {
    const explored = await explore(subject, scenario, faults);
    expect(explored.violation).toBeUndefined();
    states += explored.states;
  }
  process.stdout.write(`${name}: ${states} states\n`);
});
