import { expect, test } from '@jest/globals';
import { classifyStatus } from '../../../lambda/upstream/failure.ts';

const named: Readonly<Record<number, string>> = {
  401: 'credentials',
  402: 'credentials',
  403: 'forbidden',
  404: 'missing',
  408: 'upstream_timeout',
  413: 'too_large',
  429: 'limited',
};

test('every status is one class of failure, or a success', () => {
  for (let status = 100; status < 1000; status += 1) {
    const hundreds = Math.floor(status / 100);
    const byHundreds =
      { 2: undefined, 4: 'caller', 5: 'server_error' }[hundreds] ?? (hundreds === 2 ? undefined : 'unusable');
    expect([status, classifyStatus(status)]).toEqual([status, named[status] ?? byHundreds]);
  }
});
