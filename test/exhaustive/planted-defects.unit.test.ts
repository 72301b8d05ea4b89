import { expect, test } from '@jest/globals';
import { findSmallest } from './explore.ts';
import { defects, plant } from './planted.ts';
import { combined, pairs, rolling } from './scenarios.ts';

// A search that finds nothing proves nothing, so it must find these.
Error.stackTraceLimit = 0;

test.each(defects)('$name is found, with the smallest schedule', async (defect) => {
  const all = defect.together ? combined : [...pairs, ...rolling];
  const scenarios = all.filter(({ name }) => defect.among?.test(name) ?? true);
  expect(await findSmallest(await plant(defect), scenarios, 2)).toEqual(defect.breaks);
});
