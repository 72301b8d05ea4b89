import { describe, expect, test } from '@jest/globals';
import { messages } from '../../lambda/dialects/messages/messages.ts';
import { renderOpenAiError } from '../../lambda/dialects/model/openai.ts';
import { catalogue, type ErrorCode, GatewayError, toGatewayError } from '../../lambda/errors.ts';
import { testRows } from '../support/test-rows.ts';

const encodings = 'identity, gzip, deflate, br, zstd';

/** What clients rely on. */
const table: readonly (readonly [ErrorCode, number, string, string, Readonly<Record<string, string>>])[] = [
  ['invalid_request', 400, 'invalid_request_error', 'invalid_request_error', {}],
  ['invalid_model', 400, 'invalid_request_error', 'invalid_request_error', {}],
  ['missing_api_key', 401, 'invalid_request_error', 'authentication_error', { 'x-should-retry': 'false' }],
  ['invalid_api_key', 401, 'invalid_request_error', 'authentication_error', { 'x-should-retry': 'false' }],
  ['model_not_allowed', 403, 'invalid_request_error', 'permission_error', {}],
  ['model_not_found', 404, 'invalid_request_error', 'not_found_error', {}],
  ['not_found', 404, 'invalid_request_error', 'not_found_error', {}],
  ['method_not_allowed', 405, 'invalid_request_error', 'invalid_request_error', {}],
  ['request_too_large', 413, 'invalid_request_error', 'request_too_large', {}],
  ['unsupported_encoding', 415, 'invalid_request_error', 'invalid_request_error', { 'accept-encoding': encodings }],
  ['upgrade_required', 426, 'invalid_request_error', 'invalid_request_error', {}],
  ['rate_limited', 429, 'rate_limit_error', 'rate_limit_error', {}],
  ['quota_exceeded', 429, 'insufficient_quota', 'rate_limit_error', { 'x-should-retry': 'false' }],
  ['internal_error', 500, 'server_error', 'api_error', {}],
  ['upstream_error', 502, 'server_error', 'api_error', {}],
  ['unconfigured', 503, 'server_error', 'api_error', { 'x-should-retry': 'false' }],
  ['service_unavailable', 503, 'server_error', 'overloaded_error', { 'retry-after': '1' }],
  ['upstream_timeout', 504, 'server_error', 'timeout_error', {}],
];

describe('the catalogue of errors', () => {
  testRows(table)(
    'gives each error its status, and its type in every dialect',
    (code, status, openai, ofMessages, headers) => {
      const message = 'What to do.';
      const error = new GatewayError(code, message);
      expect([error.status, error.headers]).toEqual([status, headers]);
      expect(JSON.parse(renderOpenAiError(error))).toEqual({ error: { message, type: openai, code } });
      expect(JSON.parse(messages.renderError(error))).toEqual({ type: 'error', error: { type: ofMessages, message } });
    },
  );

  test('is complete in the table of this test', () => {
    expect(table.map(([code]) => code).sort()).toEqual(Object.keys(catalogue).sort());
  });

  test('an overloaded upstream is named so in the messages dialect', () => {
    const error = new GatewayError('upstream_error', '', { status: 529 });
    expect(JSON.parse(messages.renderError(error)).error.type).toBe('overloaded_error');
    expect(JSON.parse(renderOpenAiError(error)).error.type).toBe('server_error');
  });

  test('an unknown error is not shown', () => {
    const error = toGatewayError(new Error('the secret prompt'));
    expect(error.code).toBe('internal_error');
    expect(renderOpenAiError(error)).not.toMatch('secret');
    expect(toGatewayError(error)).toBe(error);
  });
});
