import { test } from '@jest/globals';
import { runAll } from './run-all.ts';
import { pairs, rolling } from './scenarios.ts';

/*
 * Every way in which requests can share a counter, with at most two faults of the store between them: the real code, from
 * the charge down to the repeats of a call, over a store whose every call waits for its turn. What has to hold after each
 * step stands in invariants.ts.
 */
test('no schedule of two requests breaks a promise', () => runAll('two requests', pairs));

test('no schedule of yesterday’s code beside today’s breaks one either', () =>
  runAll('while a deployment rolls', rolling));
