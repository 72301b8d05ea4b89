import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { empty, head, html, json, type Script, write } from '../../local/upstream/script.ts';
import { testRows } from '../support/test-rows.ts';
import { expectRefusal, type Refusal, startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary } from '../support/wire.ts';

const upstreamError = { code: 'upstream_error', charged: 0 } as const;
const callersFault = { code: 'invalid_request', reason: 'caller', charged: 1 } as const;

/** The upstream's status and the client's. */
const expectations: readonly (readonly [number, Refusal])[] = [
  ...[400, 422, 499].map((status) => [status, { status, ...callersFault }] as const),
  [401, { status: 502, reason: 'credentials', ...upstreamError }],
  [402, { status: 502, reason: 'credentials', ...upstreamError }],
  [403, { status: 502, reason: 'forbidden', ...upstreamError }],
  [404, { status: 502, reason: 'missing', ...upstreamError }],
  [408, { status: 504, code: 'upstream_timeout', reason: 'upstream_timeout', charged: 0 }],
  [413, { status: 413, code: 'request_too_large', reason: 'too_large', charged: 1 }],
  [429, { status: 503, code: 'service_unavailable', reason: 'limited', charged: 0 }],
  ...[500, 503, 529].map((status) => [status, { status, reason: 'server_error', ...upstreamError }] as const),
  ...[304, 999].map((status) => [status, { status: 502, reason: 'unusable', ...upstreamError }] as const),
];

const leak = `AcmeCorp thunder ${canary.upstreamBody}`;

describe('an upstream that answers with', () => {
  const dialect = 'chat';
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await startWatchedGateway();
  });
  afterAll(() => watched[Symbol.asyncDispose]());

  testRows(expectations)(
    'a status that is its own fault or the caller’s, whatever the body',
    async (status: number, expected: Refusal) => {
      const bodies: readonly Script[] = [
        empty(status),
        html(status, `<h1>${leak}</h1>`),
        [head(status, { 'content-type': 'application/json' }), write(`{"error":{"message":"${canary.upstreamBody}`)],
        [head(status, { 'content-encoding': 'gzip' }), write(leak)],
      ];
      for (const [index, script] of bodies.entries()) {
        watched.gateway.upstream.answer(script);
        const stream = index === 1;
        expectRefusal(dialect, await watched.ask(dialect, { stream }), expected);
      }
    },
  );

  test('a 400 says what was wrong, without names, links and keys', async () => {
    const message =
      'AcmeCorp: messages[0] is bad, see https://api.acmecorp.example/docs (key upstream-key-one, sk-abcdef123456).';
    watched.gateway.upstream.answer(json(400, { error: { message, type: 'thunder_error', code: 'x' } }));
    const outcome = await watched.ask(dialect);
    expectRefusal(dialect, outcome, { status: 400, ...callersFault });
    expect(JSON.parse(outcome.text).error.message).toBe(
      'svc: messages[0] is bad, see (link removed) (key (key removed), (key removed)).',
    );
  });

  testRows([
    [503, '7.2', '8'],
    [429, undefined, '1'],
    [503, undefined, null],
  ])('a Retry-After is passed on in seconds where waiting helps', async (status, given, shown) => {
    watched.gateway.upstream.answer(empty(status, given === undefined ? {} : { 'retry-after': given }));
    expect((await watched.ask(dialect)).headers.get('retry-after')).toBe(shown);
  });
});

test('counting tokens is free, and not offered if the upstream lacks it', async () => {
  await using watched = await startWatchedGateway();
  const { gateway, remaining } = watched;
  const before = await remaining();
  const count = () =>
    gateway.post('/v1/messages/count_tokens', { model: 'svc', messages: [] }, { 'x-api-key': canary.clientKey });
  for (const status of [404, 405, 501]) {
    gateway.upstream.answer(html(status, leak));
    const response = await count();
    expect([response.status, response.headers.get('x-svc-error')]).toEqual([404, 'not_found']);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  }
  for (const status of [429, 503]) {
    gateway.upstream.answer(html(status, leak));
    const failed = await count();
    expect([failed.status, failed.headers.get('x-svc-remaining')]).toEqual([503, String(before)]);
  }
  expect(await remaining()).toBe(before);
});

test('a 404 for a reference in a responses body is the caller’s', async () => {
  await using watched = await startWatchedGateway();
  const { gateway, remaining } = watched;
  gateway.upstream.answer(json(404, { error: { message: leak } }));
  const before = await remaining();
  const body = { model: 'svc', input: [{ type: 'item_reference', id: 'msg_1' }] };
  const response = await gateway.post('/v1/responses', body, { 'x-api-key': canary.clientKey });
  expect([response.status, response.headers.get('x-svc-error')]).toEqual([400, 'invalid_request']);
  expect(await response.text()).not.toMatch(/acme|canary/i);
  expect(await remaining()).toBe(before - 1);
});
