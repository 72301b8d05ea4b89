import { setImmediate } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import type { ArrivedAtInference, Normalized, ReadAhead } from '../../../lambda/request/request.ts';

let readings = 0;
jest.unstable_mockModule('../../../lambda/forward/stream.ts', () => {
  readings += 1;
  return { fetchStream: () => {} };
});
const { readStreamCode } = await import('../../../lambda/steps/admit.ts');

test('the code for streams is read, once, as soon as a request comes that may ask for one', async () => {
  const { before } = readStreamCode();
  const arrive = (request: Partial<ArrivedAtInference & ReadAhead>) => before?.(request as ArrivedAtInference);
  const asks = { mayStream: () => true };
  const readAhead = (stream: boolean) => ({ ahead: { call: { stream } } as Normalized });
  arrive({ mayStream: () => false });
  // Of a body that has been read it is known.
  arrive({ ...asks, ...readAhead(false) });
  arrive({ ...asks, ahead: { fault: new Error('no JSON') } });
  await setImmediate();
  expect(readings).toBe(0);
  arrive({ mayStream: () => false, ...readAhead(true) });
  arrive(asks);
  await setImmediate();
  await setImmediate();
  expect(readings).toBe(1);
});
