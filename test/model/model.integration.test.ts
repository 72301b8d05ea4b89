import { expect, test } from '@jest/globals';
import { runModel } from './run.ts';

/*
 * Two thousand random requests by every kind of caller, in crowds, with every failure of an upstream, a client or the store. The
 * rules in rules.ts must allow each response, and at the end the counters in the table must agree with them. A failing seed can
 * be repeated, and draws the same requests again.
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
