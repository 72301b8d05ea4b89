import { describe, expect, test } from '@jest/globals';
import { isPagePath, siteOf } from '../../../lambda/wallet/site.ts';

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

  test('is APP_URL where there is one, whatever was called', () => {
    const settings = { appUrl: 'https://app.example/ai', scheme: 'https' } as const;
    expect(siteOf('evil.example', settings)).toEqual({
      domain: 'app.example',
      origin: 'https://app.example',
      baseUrl: 'https://app.example/ai',
      pageUrl: 'https://app.example/ai/cli',
    });
  });

  test('refuses a request that came to no host', () => {
    expect(() => siteOf('', local)).toThrow('The Host header names no host.');
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
