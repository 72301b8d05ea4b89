import { expect, test } from '@jest/globals';
import { runModel } from './tracks.ts';

/*
 * Two thousand drawn requests of every kind of caller, in crowds, with every way an upstream, a client or the store can
 * fail them, against the rules as rules.ts writes them down: each answer is one that the rules allow, and in the end each
 * counter in the table says what the rules say. A seed that fails can be repeated: it draws the same again.
 */
test.each([1, 2, 3])(
  '2,000 requests, drawn by the seed %i, are charged as the rules say',
  async (seed) => {
    const summaries = await runModel(seed, 2_000);
    for (const [name, { faults }] of Object.entries(summaries)) expect({ name, faults }).toEqual({ name, faults: [] });
    const requests = Object.values(summaries).map((summary) => summary.requests);
    expect(requests.reduce((sum, count) => sum + count, 0)).toBe(2_000);
  },
  120_000,
);
