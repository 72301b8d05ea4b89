import { expect, test } from '@jest/globals';
import { fuzz } from './run.ts';

// More of it, and others: npm run fuzz -- --inputs 50000 --seed 2
// Even seeds test the HTTP server, odd ones the function.
test.each([1, 2])(
  'whatever is sent, a valid answer comes back (seed %i)',
  async (seed) => {
    const { inputs, answers, faults } = await fuzz(seed, 1_500);
    expect(faults).toEqual([]);
    expect(inputs).toBe(1_500);
    // It must reach every layer, or it would prove little.
    const outcomes = ['200', '204', '400 invalid_request', '400 invalid_model', '401 missing_api_key'];
    expect(Object.keys(answers)).toEqual(
      expect.arrayContaining([...outcomes, '401 invalid_api_key', '404 not_found', '405 method_not_allowed']),
    );
  },
  120_000,
);
