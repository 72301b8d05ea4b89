import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import { defects } from './defects.ts';
import { drawPlan } from './draw.ts';
import { violationIn } from './run.ts';

const sound = await loadSubject();
const found = defects.flatMap(({ seed, ...defect }) => (seed === undefined ? [] : [{ ...defect, seed }]));

test.each(found)('$room: $name: the world $seed shows it', async ({ seed, ...defect }) => {
  expect(await violationIn(await loadSubject(defect), drawPlan(seed))).toBeDefined();
  expect(await violationIn(sound, drawPlan(seed))).toBeUndefined();
});
