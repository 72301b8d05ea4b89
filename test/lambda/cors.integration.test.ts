import { expect, test } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const guest = { 'x-api-key': 'guest' };
const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };

/** The status, and the headers that browsers and caches read. */
async function ask({ url }: TestGateway, path: string, { method = 'GET', headers = {} }: RequestInit, origin?: string) {
  const response = await fetch(url + path, { method, headers: { ...headers, ...(origin && { origin }) } });
  await response.text();
  const read = (name: string) => response.headers.get(name);
  return { status: response.status, allowed: read('access-control-allow-origin'), vary: read('vary') };
}

const answers: [string, string, RequestInit, number][] = [
  ['a preflight', '/v1/chat/completions', preflight, 204],
  ['an answer', '/v1/models', { headers: guest }, 200],
  ['a refusal', '/v1/models', {}, 401],
  ['an unknown path', '/nowhere', {}, 404],
];

test('where some origins are listed, every answer differs from page to page, and caches are told so', async () => {
  const environment = { CORS_ORIGINS: 'https://one.example,https://two.example' };
  await using gateway = await startTestGateway({ environment });
  for (const [name, path, init, status] of answers) {
    for (const origin of ['https://one.example', 'https://two.example', 'https://three.example', undefined]) {
      const allowed = /one|two/.test(origin ?? '') ? origin : null;
      expect([name, await ask(gateway, path, init, origin)]).toEqual([name, { status, allowed, vary: 'origin' }]);
    }
  }
});

test('where all are, it is the same for all', async () => {
  await using gateway = await startTestGateway();
  for (const [name, path, init, status] of answers) {
    for (const origin of ['https://one.example', undefined]) {
      expect([name, await ask(gateway, path, init, origin)]).toEqual([name, { status, allowed: '*', vary: null }]);
    }
  }
});
