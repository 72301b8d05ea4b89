import { describe, expect, test } from '@jest/globals';
import { embeddings } from '../../../lambda/dialects/embeddings/embeddings.ts';
import { dialects } from '../../../lambda/dialects/index.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import { createRouter } from '../../../lambda/request/routes.ts';
import { testRows } from '../../support/test-rows.ts';

const findRoute = createRouter(dialects);
const route = (method: string, path: string, headers: Record<string, string> = {}) =>
  findRoute({ method, path, headers });
const probe = new GatewayError('invalid_request', 'x');

test('an SDK whose base URL has /v1 once too often reads errors in its own shape', () => {
  const shapeAt = (path: string) => Object.keys(JSON.parse(route('POST', path).renderError(probe)))[0];
  expect(['/v1/v1/messages', '/v1/v1/messages/count_tokens', '/messages', '//v1/messages/'].map(shapeAt)).toEqual(
    Array(4).fill('type'),
  );
  expect(['/v1/v1/responses', '/v1/v1/models', '/v2/messages', '/'].map(shapeAt)).toEqual(Array(4).fill('error'));
});

test('what other deployments offer is not offered here, whatever the method', () => {
  const findWithout = createRouter(dialects, { missing: embeddings.endpoints });
  for (const method of ['POST', 'GET']) {
    const found = findWithout({ method, path: '/v1/embeddings', headers: {} });
    const error = { status: 404, code: 'not_found', message: 'Embeddings are not offered here.' };
    expect(found).toMatchObject({ kind: 'refused', name: 'unknown', error });
  }
  expect(findWithout({ method: 'OPTIONS', path: '/v1/embeddings', headers: {} }).kind).toBe('preflight');
  expect(findWithout({ method: 'POST', path: '/v1/embedding', headers: {} }).kind).toBe('notFound');
});

describe('route', () => {
  testRows([
    ['POST', '/v1/chat/completions', 'inference'],
    ['GET', '/v1/models', 'models'],
    ['GET', '/v1/usage', 'usage'],
    ['POST', '/v1/usage', 'refused'],
    ['GET', '/v1/models/svc', 'model'],
    ['GET', '/v1/models/', 'model'],
    ['GET', '/', 'notFound'],
    ['POST', '/v1/messages/', 'notFound'],
    ['POST', '/chat/completions', 'notFound'],
    ['GET', '/v1/modelsx', 'notFound'],
    ['HEAD', '/v1/models', 'refused'],
    ['GET', '/__proto__', 'notFound'],
    ['GET', '/healthz', 'notFound'], // but on the HTTP server
  ])('each method and path is a route', (method, path, kind) => {
    expect(route(method, path).kind).toBe(kind);
  });

  testRows([
    ['GET', '/v1/messages', 405, { allow: 'POST, OPTIONS' }, 'type'],
    ['POST', '/v1/models', 405, { allow: 'GET, OPTIONS' }, 'error'],
  ])('a refusal is in the dialect of the path', (method, path, status, headers, first) => {
    const found = route(method, path);
    expect(found).toMatchObject({ kind: 'refused', error: { status, headers } });
    expect(Object.keys(JSON.parse(found.renderError(probe)))[0]).toBe(first);
  });

  testRows([
    ['/v1/responses', 'POST, OPTIONS'],
    ['/v1/models', 'GET, OPTIONS'],
    ['/nowhere', undefined],
  ])(
    'OPTIONS is answered as a preflight on any path, with any headers, and says what a known one takes',
    (path, allow) => {
      for (const headers of [{}, { 'access-control-request-method': 'POST', 'sec-websocket-key': 'x' }])
        expect(route('OPTIONS', path, headers)).toMatchObject({ kind: 'preflight', allow });
    },
  );

  testRows([
    ['/v1/models/svc%2Dvision', 'svc-vision'],
    ['/v1/models/%E0%A4', '%E0%A4'],
    ['/v1/models/a/b', 'a/b'],
  ])('the name of a model is the rest of its path, decoded', (path, id) => {
    expect(route('GET', path)).toMatchObject({ kind: 'model', id });
  });

  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  testRows<[string, string, Record<string, string>, number]>([
    ['GET', '/v1/responses', { ...key, connection: 'Upgrade', upgrade: 'websocket' }, 426],
    ['GET', '/v1/responses', key, 426], // whose Upgrade was stripped on the way
    ['GET', '/v1/responses', { 'openai-beta': 'responses_websockets=2026-02-06' }, 426],
    ['GET', '/v1/responses', { 'openai-beta': 'assistants=v2, responses_websockets_v2' }, 426],
    ['GET', '/v1/responses', { 'openai-beta': 'assistants=v2' }, 405],
    ['GET', '/v1/chat/completions', key, 405],
    ['PUT', '/v1/responses', key, 405],
  ])('a WebSocket handshake, and nothing else, is told to send a POST', (method, path, headers, status) => {
    const found = route(method, path, headers);
    expect(found).toMatchObject({ kind: 'refused', error: { status } });
    if (status === 426)
      expect(found).toMatchObject({ error: { message: expect.stringMatching('POST to /v1/responses') } });
    expect(route('POST', '/v1/responses', headers).kind).toBe('inference');
  });
});
