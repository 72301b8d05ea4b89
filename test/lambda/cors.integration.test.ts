import { describe, expect } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { testRows } from '../support/test-rows.ts';

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

describe('which pages may read', () => {
  testRows(answers)(
    'where some origins are listed, an answer differs from page to page, and caches are told so',
    async (...of) => {
      const [, path, init, status] = of;
      const environment = { CORS_ORIGINS: 'https://one.example,https://two.example' };
      await using gateway = await startTestGateway({ environment });
      for (const origin of ['https://one.example', 'https://two.example']) {
        expect(await ask(gateway, path, init, origin)).toEqual({ status, allowed: origin, vary: 'origin' });
      }
      for (const origin of ['https://three.example', undefined]) {
        expect(await ask(gateway, path, init, origin)).toEqual({ status, allowed: null, vary: 'origin' });
      }
    },
  );

  testRows(answers)('where all are, it is the same for all', async (_name, path, init, status) => {
    await using gateway = await startTestGateway();
    for (const origin of ['https://one.example', undefined]) {
      expect(await ask(gateway, path, init, origin)).toEqual({ status, allowed: '*', vary: null });
    }
  });
});
