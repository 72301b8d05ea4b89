import { setImmediate } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import type { Normalized, ReadAhead } from '../../../lambda/request/request.ts';

const loadFetchStream = jest.fn(async () => {});
jest.unstable_mockModule('../../../lambda/forward/forward.ts', () => ({ loadFetchStream }));
const { readStreamCode } = await import('../../../lambda/steps/prefetch.ts');

const asks = (stream: boolean) => Promise.resolve({ call: { stream } } as Normalized);

/** How often the code was read once each of these requests has come. */
async function readingsAfter(...requests: readonly ReadAhead[]): Promise<number[]> {
  loadFetchStream.mockClear();
  const { before } = readStreamCode();
  const readings: number[] = [];
  for (const request of requests) {
    before?.(request);
    await setImmediate();
    await setImmediate();
    readings.push(loadFetchStream.mock.calls.length);
  }
  return readings;
}

test('the code for streams is read, once, as soon as a request comes that may ask for one', async () => {
  const broken = Promise.reject(new Error('no JSON'));
  expect(await readingsAfter({ ahead: asks(false) }, { ahead: broken }, { ahead: asks(true) }, {})).toEqual([
    0, 0, 1, 1,
  ]);
  // Of a body that is read after the charge it is not known.
  expect(await readingsAfter({}, { ahead: asks(true) })).toEqual([1, 1]);
});
