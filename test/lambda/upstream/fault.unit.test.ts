import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { JsonFault, JsonLimit } from '../../../lambda/json/tokens.ts';
import { UpstreamFailure } from '../../../lambda/upstream/failure.ts';
import { fromFault, toFault } from '../../../lambda/upstream/fault.ts';

test('an error survives its way from a worker thread', () => {
  const cross = (thrown: unknown) => fromFault(structuredClone(toFault(thrown)));
  const cause = new RangeError('more than 5 calls');
  const faults = [
    new GatewayError('invalid_model', 'No.', { advice: 'Ask.', details: { a: 'b' }, refund: true, reason: 'r', cause }),
    new UpstreamFailure('unusable', { charged: true, cause }),
    new UpstreamFailure('reported', { message: 'Said.' }),
    new UpstreamFailure('caller', { status: 422, message: 'Said.', shownCode: 'c', retryAfter: 3 }),
    new JsonFault('line 1, column 2: expected a value'),
    new JsonLimit('line 1, column 2: nested deeper'),
  ];
  for (const fault of faults) {
    const crossed = cross(fault);
    expect(crossed).toEqual(fault);
    expect(Object(crossed).constructor).toBe(fault.constructor);
    expect({ ...Object(crossed), cause: undefined }).toEqual({ ...fault, cause: undefined });
    expect(String(Object(crossed).cause)).toBe(String(fault.cause));
  }
  expect(String(cross(new TypeError('a defect')))).toBe('TypeError: a defect');
});
