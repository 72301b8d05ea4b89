import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import { found } from './defects.ts';
import { drawPlan } from './draw.ts';
import { violationIn } from './run.ts';

const sound = await loadSubject();

test.each(found)('$room: $name: the world $seed shows it', async ({ seed, ...defect }) => {
  expect(await violationIn(await loadSubject(defect), drawPlan(seed))).toBeDefined();
  expect(await violationIn(sound, drawPlan(seed))).toBeUndefined();
});
