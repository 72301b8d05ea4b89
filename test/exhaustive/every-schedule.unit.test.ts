import { expect, test } from '@jest/globals';
import { explore } from './explore.ts';
import { pairs, triples } from './scenarios.ts';
import * as subject from './subject.ts';

// Errors are thrown by the ten thousand here, and their stacks would take most of the time.
Error.stackTraceLimit = 0;

/*
 * Every way in which requests can share a counter, with at most two faults between them: the real code, from the charge down
 * to the repeats of a call, over a store whose every call waits for its turn. What has to hold after each step stands in
 * invariants.ts.
 */
test.each([
  ['two', pairs],
  ['three', triples],
])('no schedule of %s requests breaks a promise', async (name, scenarios) => {
  let states = 0;
  for (const scenario of scenarios) {
    const explored = await explore(subject, scenario, 2);
    expect(explored.violation).toBeUndefined();
    states += explored.states;
  }
  process.stdout.write(`${name} requests: ${states} states\n`);
});
