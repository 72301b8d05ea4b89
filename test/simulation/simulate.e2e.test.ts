import { expect, test } from '@jest/globals';
import { seedOfToday } from './seed-of-today.ts';
import { simulate } from './simulate-apart.ts';

const seed = seedOfToday();

test(`every invariant holds in 5,000 worlds of the seed ${seed}, and a run ends with what came of it, in one line`, async () => {
  expect(await simulate('--runs', '5000', '--seed', `${seed}`)).toMatch(
    new RegExp(`\\n5000 worlds of seed ${seed} with \\d+ requests, \\d+ a second: all holds\\n$`),
  );
}, 600_000);

test('a world is shown by its plan, event after event', async () => {
  const lines = await simulate('--world', '{"requests":[{"stream":true}]}');
  expect(lines).toMatch(/^\d+ client 0 begins$/m);
  expect(lines).toMatch(/^\d+ client 0 is done: whole$/m);
  expect(lines).toMatch(/\nall holds\n$/);
});

test('a planted defect is found by its name', async () => {
  expect(await simulate('--defects', 'a name across deltas')).toMatch(
    /^hiding: a name across deltas: \d+ "the same words"\n$/,
  );
});
