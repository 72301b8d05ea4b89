import { describe, expect, test } from '@jest/globals';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { GatewayError } from '../../../lambda/http/errors.ts';
import { createRouter } from '../../../lambda/http/routes.ts';

const router = createRouter(createDialects({ signsThinking: false }));
const probe = new GatewayError('invalid_request', 'x');

describe('route', () => {
  test.each([
    ['POST', '/v1/chat/completions', 'inference'],
    ['POST', '/v1/responses', 'inference'],
    ['POST', '/v1/messages', 'inference'],
    ['POST', '/v1/messages/count_tokens', 'inference'],
    ['GET', '/v1/models', 'models'],
    ['GET', '/v1/models/svc', 'model'],
    ['GET', '/v1/models/', 'model'],
    ['GET', '/', 'refused'],
    ['POST', '/v1/messages/', 'refused'],
    ['POST', '/chat/completions', 'refused'],
    ['GET', '/v1/modelsx', 'refused'],
    ['HEAD', '/v1/models', 'refused'],
    ['GET', '/v1/messages', 'refused'],
    ['OPTIONS', '/v1/messages', 'refused'],
    ['GET', '/__proto__', 'refused'],
  ])('%s %s is %s', (method, path, kind) => {
    expect(router.route(method, path, false).kind).toBe(kind);
  });

  test('a wrong method is told which one is right, in the dialect of the path', () => {
    const route = router.route('GET', '/v1/messages', false);
    expect(route).toMatchObject({ kind: 'refused', error: { status: 405, headers: { allow: 'POST, OPTIONS' } } });
    expect(JSON.parse(route.renderError(probe))).toHaveProperty('type', 'error');
  });

  test('an unknown path is answered in the OpenAI dialect', () => {
    const route = router.route('POST', '/v2/messages', false);
    expect(route).toMatchObject({ kind: 'refused', error: { status: 404, code: 'not_found' } });
    expect(JSON.parse(route.renderError(probe))).not.toHaveProperty('type');
  });

  test('a preflight is one on any path', () => {
    expect(router.route('OPTIONS', '/v1/messages', true).kind).toBe('preflight');
    expect(router.route('OPTIONS', '/nowhere', true).kind).toBe('preflight');
  });

  test.each([
    ['/v1/models/svc%2Dvision', 'svc-vision'],
    ['/v1/models/%E0%A4', '%E0%A4'],
    ['/v1/models/a/b', 'a/b'],
  ])('%s asks for %s', (path, id) => {
    expect(router.route('GET', path, false)).toMatchObject({ kind: 'model', id });
  });
});
