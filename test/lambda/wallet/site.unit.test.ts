import { describe, expect, test } from '@jest/globals';
import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { isPagePath, siteOf } from '../../../lambda/wallet/site.ts';

function eventAt(domainName: string, host?: string): LambdaFunctionURLEvent {
  const http = { method: 'GET', path: '/', protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: '' };
  const requestContext = { accountId: '', apiId: '', domainName, domainPrefix: '', http, requestId: '' };
  const context = { ...requestContext, routeKey: '', stage: '', time: '', timeEpoch: 0 };
  const headers = { ...(host && { host }) };
  return {
    version: '2.0',
    routeKey: '',
    rawPath: '/',
    rawQueryString: '',
    headers,
    requestContext: context,
    isBase64Encoded: false,
  };
}
const deployed = { appUrl: undefined, scheme: 'https' } as const;
const local = { appUrl: undefined, scheme: 'http' } as const;

describe('siteOf', () => {
  test('is the domain that the Function URL was called by', () => {
    const domain = 'abc.lambda-url.eu-central-1.on.aws';
    expect(siteOf(eventAt(domain, domain), deployed)).toEqual({
      domain,
      origin: `https://${domain}`,
      baseUrl: `https://${domain}`,
      pageUrl: `https://${domain}/cli`,
    });
  });

  test('takes the port of a local server from the Host header', () => {
    expect(siteOf(eventAt('localhost', 'localhost:8787'), local).pageUrl).toBe('http://localhost:8787/cli');
  });

  test('does not believe a Host header that names another domain', () => {
    expect(siteOf(eventAt('abc.on.aws', 'evil.example'), deployed).domain).toBe('abc.on.aws');
    expect(siteOf(eventAt('abc.on.aws', 'abc.on.aws@evil.example'), deployed).domain).toBe('abc.on.aws');
  });

  test.each(['/evil', '?evil', '#evil'])('takes host and port of a Host header, and not %s behind them', (more) => {
    const { domain, pageUrl } = siteOf(eventAt('localhost', `me@localhost:8787${more}`), local);
    expect([domain, pageUrl]).toEqual(['localhost:8787', 'http://localhost:8787/cli']);
  });

  test('is APP_URL where there is one, whatever was called', () => {
    const settings = { appUrl: 'https://app.example/ai', scheme: 'https' } as const;
    expect(siteOf(eventAt('abc.on.aws', 'evil.example'), settings)).toEqual({
      domain: 'app.example',
      origin: 'https://app.example',
      baseUrl: 'https://app.example/ai',
      pageUrl: 'https://app.example/ai/cli',
    });
  });

  test('refuses a request that came to no host', () => {
    expect(() => siteOf(eventAt(''), local)).toThrow('The Host header names no host.');
  });
});

test.each([
  ['/cli', true],
  ['/cli/', true],
  ['/cli/app.js', true],
  ['/client', false],
  ['/v1/cli', false],
  ['/', false],
])('%s is the page’s: %s', (path, is) => {
  expect(isPagePath(path)).toBe(is);
});
