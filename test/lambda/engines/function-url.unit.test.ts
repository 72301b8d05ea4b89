import { expect, test } from '@jest/globals';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { toIncomingRequest } from '../../../lambda/engines/function-url.ts';
import { testRows } from '../../support/test-rows.ts';

function eventWith(given: Partial<LambdaFunctionURLEvent> & { readonly domainName?: string }): LambdaFunctionURLEvent {
  const { domainName = 'abc.on.aws', ...more } = given;
  const http = { method: 'POST', path: '/a', protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: '' };
  const requestContext = { accountId: '', apiId: '', domainName, domainPrefix: '', http, requestId: '' };
  return {
    version: '2.0',
    routeKey: '',
    rawPath: '/a',
    rawQueryString: 'q=1',
    headers: {},
    requestContext: { ...requestContext, routeKey: '', stage: '', time: '', timeEpoch: 0 },
    isBase64Encoded: false,
    ...more,
  };
}

const context = { getRemainingTimeInMillis: () => 5 } as Context;
const callOf = (given: Parameters<typeof eventWith>[0]) => toIncomingRequest(eventWith(given), context);

test('an incoming request has the data of the event', () => {
  const { method, path, sourceAddress, timeLeft, clientGone } = callOf({});
  expect({ method, path, sourceAddress, left: timeLeft(), clientGone }).toEqual({
    ...{ method: 'POST', path: '/a', sourceAddress: '203.0.113.7', left: 5, clientGone: undefined },
  });
});

test('the body is text or bytes as in the event, measured in bytes, and released when it is taken', async () => {
  for (const [body, isBase64Encoded, size, taken] of [
    ['h\u00e9', false, 3, 'h\u00e9'],
    [Buffer.from([1, 255, 0]).toString('base64'), true, 3, Buffer.from([1, 255, 0])],
    [undefined, false, 0, ''],
  ] as const) {
    const event = eventWith({ isBase64Encoded, ...(body !== undefined && { body }) });
    const call = toIncomingRequest(event, context);
    expect([call.bodySize(), await call.takeBody()]).toEqual([size, taken]);
    expect(event.body).toBeUndefined();
  }
});

testRows([
  ['the domain that the Function URL was called by', 'abc.on.aws', undefined, 'abc.on.aws'],
  ['with the port of a local server', 'localhost', 'localhost:8787', 'localhost:8787'],
  ['and never another domain', 'abc.on.aws', 'evil.example', 'abc.on.aws'],
  ['nor one behind a user', 'abc.on.aws', 'abc.on.aws@evil.example', 'abc.on.aws'],
  ...['/evil', '?evil', '#evil'].map(
    (more) => [more, 'localhost', `me@localhost:8787${more}`, 'localhost:8787'] as const,
  ),
])('the Host header is trusted only for the domain that was called', (_, domainName, host, expected) => {
  expect(callOf({ domainName, headers: host ? { host } : {} }).host).toBe(expected);
});
