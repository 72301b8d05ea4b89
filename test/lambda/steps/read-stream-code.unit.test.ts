import { setImmediate } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import type { Endpoint } from '../../../lambda/dialects/dialect.ts';
import type { ArrivedAtInference } from '../../../lambda/request/request.ts';

let readings = 0;
jest.unstable_mockModule('../../../lambda/forward/stream.ts', () => {
  readings += 1;
  return { fetchStream: () => {} };
});
const { readStreamCode } = await import('../../../lambda/steps/admit.ts');

test('the code for streams is read, once, as soon as a request comes that may ask for one', async () => {
  const { before } = readStreamCode();
  const arrive = (endpoint: Partial<Endpoint>) => before?.({ route: { endpoint } } as unknown as ArrivedAtInference);
  arrive({ countsTokens: true });
  arrive({ makesVectors: true });
  await setImmediate();
  expect(readings).toBe(0);
  arrive({});
  arrive({});
  await setImmediate();
  await setImmediate();
  expect(readings).toBe(1);
});
