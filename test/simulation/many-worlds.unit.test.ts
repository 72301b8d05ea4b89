import { expect, test } from '@jest/globals';
import { loadSubject } from './bundle.ts';
import { explain, runWorlds } from './run.ts';
import { seedOfToday } from './seed-of-today.ts';

const seed = seedOfToday() * 10;

test(`every invariant holds in 200,000 worlds of the seed ${seed}`, async () => {
  const subject = await loadSubject();
  const { worlds, broken } = await runWorlds(subject, { seed, runs: 200_000 });
  if (broken) throw new Error(await explain(subject, broken));
  expect(worlds).toBe(200_000);
}, 3_600_000);
