import { describe, expect, test } from '@jest/globals';
import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { toCall } from '../../../lambda/engines/function-url.ts';
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
const callOf = (given: Parameters<typeof eventWith>[0]) => toCall(eventWith(given), context);

test('a call has the data of the event', () => {
  const { method, path, sourceAddress, timeLeft, clientGone } = callOf({});
  expect({ method, path, sourceAddress, left: timeLeft(), clientGone }).toEqual({
    ...{ method: 'POST', path: '/a', sourceAddress: '203.0.113.7', left: 5, clientGone: undefined },
  });
});

describe('the body', () => {
  test('is the text of the event, counted in bytes', async () => {
    const call = callOf({ body: 'h\u00e9' });
    expect([call.bodySize(), await call.takeBody()]).toEqual([3, 'h\u00e9']);
  });

  test('is bytes if the event has it as base64', async () => {
    const call = callOf({ body: Buffer.from([1, 255, 0]).toString('base64'), isBase64Encoded: true });
    expect([call.bodySize(), await call.takeBody()]).toEqual([3, Buffer.from([1, 255, 0])]);
  });

  test('is let go of by the event when it is taken', async () => {
    const event = eventWith({ body: 'long' });
    await toCall(event, context).takeBody();
    expect(event.body).toBeUndefined();
  });

  test('is empty if there is none', async () => {
    const call = callOf({});
    expect([call.bodySize(), await call.takeBody()]).toEqual([0, '']);
  });
});

describe('the host', () => {
  const hostOf = (domainName: string, host?: string) => callOf({ domainName, headers: host ? { host } : {} }).host;

  test('is the domain that the Function URL was called by', () => {
    expect(hostOf('abc.on.aws')).toBe('abc.on.aws');
  });

  test('has the port of a local server from the Host header', () => {
    expect(hostOf('localhost', 'localhost:8787')).toBe('localhost:8787');
  });

  test('is not a Host header that names another domain', () => {
    expect(hostOf('abc.on.aws', 'evil.example')).toBe('abc.on.aws');
    expect(hostOf('abc.on.aws', 'abc.on.aws@evil.example')).toBe('abc.on.aws');
  });

  testRows(['/evil', '?evil', '#evil'])('is host and port of a Host header, and nothing behind them', (more) => {
    expect(hostOf('localhost', `me@localhost:8787${more}`)).toBe('localhost:8787');
  });
});
