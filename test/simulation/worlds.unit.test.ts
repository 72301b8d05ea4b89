import { beforeAll, expect, test } from '@jest/globals';
import { loadSubject, type Subject } from './bundle.ts';
import { drawPlan } from './draw.ts';
import { explain, runWorlds } from './run.ts';
import { seedOfToday } from './seed-of-today.ts';
import { runWorld } from './world.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await loadSubject();
});

const seed = Number(process.env.SEED ?? seedOfToday());

test(`every invariant holds in 5,000 worlds of the seed ${seed}`, async () => {
  const { worlds, broken } = await runWorlds(subject, { seed, runs: 5_000 });
  if (broken) throw new Error(await explain(subject, broken));
  expect(worlds).toBe(5_000);
}, 600_000);

test('a seed gives the same world again, byte for byte, whatever was before it', async () => {
  const plans = Array.from({ length: 100 }, (_, number) => drawPlan(number));
  const traces = new Map<number, string>();
  for (const plan of plans) traces.set(plan.seed, (await runWorld(subject, plan, true)).trace.join('\n'));
  for (const plan of plans.toReversed()) {
    expect((await runWorld(subject, plan, true)).trace.join('\n')).toBe(traces.get(plan.seed));
  }
});
