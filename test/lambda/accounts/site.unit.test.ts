import { describe, expect, test } from '@jest/globals';
import { isPageCall, siteOf } from '../../../lambda/accounts/site.ts';
import { testRows } from '../../support/test-rows.ts';

const deployed = { appUrl: undefined, scheme: 'https' } as const;
const local = { appUrl: undefined, scheme: 'http' } as const;

describe('siteOf', () => {
  test('is the domain that was called', () => {
    const domain = 'abc.lambda-url.eu-central-1.on.aws';
    expect(siteOf(domain, deployed)).toEqual({
      domain,
      origin: `https://${domain}`,
      baseUrl: `https://${domain}`,
      pageUrl: `https://${domain}/cli`,
    });
  });

  test('has the port of a local server', () => {
    expect(siteOf('localhost:8787', local).pageUrl).toBe('http://localhost:8787/cli');
  });

  test('is APP_URL if it is set, whatever was called', () => {
    const settings = { appUrl: 'https://app.example/ai', scheme: 'https' } as const;
    expect(siteOf('evil.example', settings)).toEqual({
      domain: 'app.example',
      origin: 'https://app.example',
      baseUrl: 'https://app.example/ai',
      pageUrl: 'https://app.example/ai/cli',
    });
  });

  test('refuses a request without a host', () => {
    expect(() => siteOf('', local)).toThrow('The Host header names no host.');
  });

  test('is a host alone, whatever else the header holds', () => {
    expect(siteOf('user@localhost:8787/path///?query#hash', local)).toEqual(siteOf('localhost:8787', local));
  });

  test('refuses a host that is longer than a domain name can be', () => {
    const longest = `${'a.'.repeat(126)}a:65535`;
    expect(siteOf(longest, local).domain).toBe(longest);
    expect(() => siteOf(`a${longest}`, local)).toThrow('The Host header names no host.');
    expect(siteOf(`a${longest}`, { appUrl: 'https://app.example', scheme: 'https' }).domain).toBe('app.example');
  });
});

testRows([
  ['GET', '/cli', true],
  ['GET', '/cli/', true],
  ['GET', '/cli/app.js', true],
  ['POST', '/cli/link', true],
  ['GET', '/client', false],
  ['GET', '/v1/cli', false],
  ['GET', '/', true],
  ['HEAD', '/', true],
  ['POST', '/', false],
  ['OPTIONS', '/', false],
  ['GET', '/docs', true],
  ['GET', '/docs/openapi.json', true],
  ['GET', '/docset', false],
])('a request is a page’s, or not', (method, path, is) => {
  expect(isPageCall({ method, path })).toBe(is);
});
