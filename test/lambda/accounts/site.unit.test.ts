import { expect, test } from '@jest/globals';
import { isPageRequest, siteOf } from '../../../lambda/accounts/site.ts';
import { testRows } from '../../support/test-rows.ts';

const longest = `${'a.'.repeat(126)}a:65535`;

testRows([
  ['abc.lambda-url.eu-central-1.on.aws', 'https', 'https://abc.lambda-url.eu-central-1.on.aws'],
  ['localhost:8787', 'http', 'http://localhost:8787'],
  // Only the host counts, whatever else the header contains.
  ['user@localhost:8787/path///?query#hash', 'http', 'http://localhost:8787'],
  [longest, 'http', `http://${longest}`],
])('the site is the host that was called', (host, scheme, url) => {
  const domain = url.replace(/^\w+:\/\//, '');
  expect(siteOf(host, scheme, undefined)).toEqual({ domain, origin: url, baseUrl: url, pageUrl: `${url}/cli` });
});

testRows(['evil.example', `a${longest}`])('the site is APP_URL if it is set, whatever was called', (host) => {
  const [domain, origin, baseUrl] = ['app.example', 'https://app.example', 'https://app.example/ai'];
  const site = { domain, origin, baseUrl, pageUrl: 'https://app.example/ai/cli' };
  expect(siteOf(host, 'http', 'https://app.example/ai')).toEqual(site);
});

test('a request without a host, or with one that is longer than a domain name can be, is refused', () => {
  for (const host of ['', `a${longest}`]) {
    expect(() => siteOf(host, 'http', undefined)).toThrow('The Host header names no host.');
  }
});

testRows([
  ['GET', '/cli', true],
  ['POST', '/cli/link', true],
  ['GET', '/client', false],
  ['GET', '/v1/cli', false],
  ['HEAD', '/', true],
  ['GET', '/favicon.ico', true],
  ['POST', '/favicon.ico', false],
  ['POST', '/', false],
  ['GET', '/docs/openapi.json', true],
  ['GET', '/docset', false],
  ['POST', '/oauth/token', true],
])('tells requests for the pages from those for the gateway', (method, path, is) => {
  expect(isPageRequest({ method, path })).toBe(is);
});
