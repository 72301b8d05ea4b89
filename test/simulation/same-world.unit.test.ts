import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import { drawPlan } from './draw.ts';
import { runWorld } from './world.ts';

test('a seed gives the same world again, byte for byte, whatever was before it', async () => {
  const subject = await loadSubject();
  const plans = Array.from({ length: 100 }, (_, number) => drawPlan(number));
  const traces = new Map<number, string>();
  for (const plan of plans) traces.set(plan.seed, (await runWorld(subject, plan, true)).trace.join('\n'));
  for (const plan of plans.toReversed()) {
    expect((await runWorld(subject, plan, true)).trace.join('\n')).toBe(traces.get(plan.seed));
  }
});
