import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { GatewayError } from '../../../lambda/errors.ts';
import { createLostPage } from '../../../lambda/request/lost-page.ts';
import { isBrowser } from '../../../lambda/request/routes.ts';
import { testRows } from '../../support/test-rows.ts';

const error = new GatewayError('not_found', '<script>');
const pageWith = (pagesUrl: string | undefined, clients: string | undefined = 'Get a key') => {
  const { renderError, errorHeaders = {} } = createLostPage({ serviceName: 'acme', pagesUrl, clients });
  return { html: renderError(error), headers: errorHeaders };
};
const linksIn = (html: string) => [...html.matchAll(/<a href="([^"]*)">([^<]*)/g)].map(([, url, text]) => [url, text]);

testRows([
  [
    '',
    [
      ['/docs', 'Read the API'],
      ['/cli', 'Get a key'],
      ['/', 'The start page'],
    ],
  ],
  [
    'https://app.example/"ai"&x',
    [
      ['https://app.example/&quot;ai&quot;&amp;x/docs', 'Read the API'],
      ['https://app.example/&quot;ai&quot;&amp;x/cli', 'Get a key'],
      ['https://app.example/&quot;ai&quot;&amp;x/', 'The start page'],
    ],
  ],
])('it says where to go', (pagesUrl, links) => {
  expect(linksIn(pageWith(pagesUrl).html)).toEqual(links);
});

test('nowhere, if nobody knows, and not to a page that is not there', () => {
  expect(linksIn(pageWith(undefined).html)).toEqual([]);
  expect(pageWith(undefined).html).toContain('Ask its operator');
  const { renderError } = createLostPage({ serviceName: 'acme', pagesUrl: '', clients: undefined });
  expect(linksIn(renderError(error)).map(([url]) => url)).toEqual(['/docs', '/']);
});

test('it repeats nothing that was sent, and its policy allows its own style and nothing else', () => {
  const { html, headers } = pageWith('');
  expect(html).not.toContain('<script');
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(html) ?? [];
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = headers['content-security-policy'];
  expect(policy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`);
  expect(policy).toMatch(/^default-src 'none'; /);
});

testRows([
  ['GET', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['HEAD', 'text/html', true],
  ['POST', 'text/html', false],
  ['GET', '*/*', false],
  ['GET', 'application/json', false],
  ['GET', 'text/html5', false],
  ['GET', undefined, false],
])('a browser is told by what it accepts', (method, accept, is) => {
  expect(isBrowser({ method, headers: { accept } })).toBe(is);
});
