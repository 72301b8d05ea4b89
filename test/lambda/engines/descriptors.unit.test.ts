import { expect, test } from '@jest/globals';
import { mostConnections } from '../../../lambda/engines/listen.ts';

test('connections leave enough descriptors, of Lambda’s and of this system’s', () => {
  // To clients and to upstreams, both services of AWS at their most, a dozen files and pipes.
  expect(2 * mostConnections(1_024) + 2 * 128).toBeLessThanOrEqual(1_024);
  expect(mostConnections()).toBeGreaterThanOrEqual(384);
});
