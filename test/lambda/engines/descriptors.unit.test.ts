import { expect, test } from '@jest/globals';
import { shareDescriptors } from '../../../lambda/engines/listen.ts';

test('enough of Lambda’s descriptors are left for the tables and everything else', () => {
  const { clients, upstreams } = shareDescriptors(1_024);
  expect([clients, upstreams]).toEqual([384, 384]);
  // Both services of AWS at their most, a dozen files and pipes.
  expect(clients + upstreams + 2 * 128).toBeLessThanOrEqual(1_024);
});

test('the system says how many there are', () => {
  expect(shareDescriptors().clients).toBeGreaterThanOrEqual(384);
});
