import { expect, test } from '@jest/globals';
import { isPageCall, siteOf } from '../../../lambda/accounts/site.ts';
import { testRows } from '../../support/test-rows.ts';

const longest = `${'a.'.repeat(126)}a:65535`;
const deployed = { appUrl: undefined, scheme: 'https' } as const;
const local = { appUrl: undefined, scheme: 'http' } as const;
const named = { appUrl: 'https://app.example/ai', scheme: 'http' } as const;

testRows([
  ['abc.lambda-url.eu-central-1.on.aws', deployed, 'https://abc.lambda-url.eu-central-1.on.aws'],
  ['localhost:8787', local, 'http://localhost:8787'],
  // A host alone, whatever else the header holds.
  ['user@localhost:8787/path///?query#hash', local, 'http://localhost:8787'],
  [longest, local, `http://${longest}`],
] as const)('the site is the host that was called', (host, settings, url) => {
  const domain = url.replace(/^\w+:\/\//, '');
  expect(siteOf(host, settings)).toEqual({ domain, origin: url, baseUrl: url, pageUrl: `${url}/cli` });
});

testRows(['evil.example', `a${longest}`])('the site is APP_URL if it is set, whatever was called', (host) => {
  const [domain, origin, baseUrl] = ['app.example', 'https://app.example', 'https://app.example/ai'];
  expect(siteOf(host, named)).toEqual({ domain, origin, baseUrl, pageUrl: 'https://app.example/ai/cli' });
});

test('a request without a host, or with one that is longer than a domain name can be, is refused', () => {
  for (const host of ['', `a${longest}`]) {
    expect(() => siteOf(host, local)).toThrow('The Host header names no host.');
  }
});

testRows([
  ['GET', '/cli', true],
  ['POST', '/cli/link', true],
  ['GET', '/client', false],
  ['GET', '/v1/cli', false],
  ['HEAD', '/', true],
  ['POST', '/', false],
  ['GET', '/docs/openapi.json', true],
  ['GET', '/docset', false],
  ['POST', '/oauth/token', true],
])('a request is a page’s, or not', (method, path, is) => {
  expect(isPageCall({ method, path })).toBe(is);
});
