import { expect, test } from '@jest/globals';
import { fuzzStreams } from './streams.ts';

// More of them, and others: npm run fuzz -- --inputs 0 --streams 100000 --seed 3
test.each([1, 2])('streams whose members, keys, types and texts are names reveal none (seed %i)', (seed) => {
  expect(fuzzStreams(seed, 2_000)).toEqual([]);
});
