import { expect, test } from '@jest/globals';
import { seedOfToday } from './seed-of-today.ts';
import { simulate } from './simulate-apart.ts';

const seed = String(seedOfToday() * 10);

test(`every invariant holds in 200,000 worlds of the seed ${seed}`, async () => {
  expect(await simulate('--runs', '200000', '--seed', seed)).toMatch(/\n200000 worlds .*: all holds\n$/);
}, 3_600_000);
