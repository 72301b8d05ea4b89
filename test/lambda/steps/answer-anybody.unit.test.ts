import { describe, expect } from '@jest/globals';
import { dialects } from '../../../lambda/dialects/index.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import { createRouter } from '../../../lambda/request/routes.ts';
import { answerAnybody, preflightHeaders } from '../../../lambda/steps/answer-anybody.ts';
import { testRows } from '../../support/test-rows.ts';

const findRoute = createRouter(dialects);

describe('an unknown path', () => {
  const messageOf = (path: string) => {
    const call = { method: 'POST', path, headers: {} };
    try {
      return answerAnybody({ ...call, route: findRoute(call) });
    } catch (error) {
      return error instanceof GatewayError ? `${error.status} ${error.message}` : error;
    }
  };

  testRows([
    ['/v1/messages/', 'it has a slash too many at its end. Use /v1/messages.'],
    [`/v1/messages${'/'.repeat(1_000)}`, 'it has a slash too many at its end. Use /v1/messages.'],
    ['//v1/messages', 'it has a slash too many. Use /v1/messages.'],
    ['/v1/v1/messages', 'it has /v1 more than once. Use /v1/messages.'],
    ['/chat/completions', 'it has no /v1. Use /v1/chat/completions.'],
    ['//v1/v1/models', 'it has a slash too many and /v1 more than once. Use /v1/models.'],
  ])('gets a correction if it is nearly right', (path, expected) => {
    const message = messageOf(path);
    expect(message).toMatch(/^404 There is nothing at this path: /);
    expect(message).toContain(expected);
    expect(message).toMatch(
      /A client that adds \/v1 itself needs the base URL without it; any other needs one that ends in \/v1\.$/,
    );
  });

  testRows(['/', '/v2/messages', '/v1', '/v1/', '/v1/embeddings', '/v1/completions/', '/messages/extra'])(
    'gets a list of the endpoints otherwise',
    (path) => {
      expect(messageOf(path)).toMatch(
        /^404 There is nothing at this path\. The endpoints are \/v1\/chat\/completions, /,
      );
    },
  );
});

// Lambda events may contain what no HTTP connection lets through.
testRows(['a\r\nx-api-key: stolen', 'a\nb', 'a\rb', 'a\0b', 'a\u{1f4a5}', 'Ā', 'a\u2028b', 'é', ''])(
  'a header that would inject another one is not echoed',
  (asked) => {
    const headers = preflightHeaders({ 'access-control-request-headers': asked }, undefined);
    expect(headers['access-control-allow-headers']).toMatch(/^x-api-key, api-key, authorization, content-type/);
  },
);
