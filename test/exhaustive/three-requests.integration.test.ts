import { expect, test } from '@jest/globals';
import { explore } from './explore.ts';
import { triples } from './scenarios.ts';
import * as subject from './subject.ts';

Error.stackTraceLimit = 0;

// Like every-schedule.unit.test.ts, which stops at one fault: a second one takes ten times as long.
test('no schedule of three requests with up to two faults breaks a promise', async () => {
  for (const scenario of triples) expect((await explore(subject, scenario, 2)).violation).toBeUndefined();
}, 600_000);
