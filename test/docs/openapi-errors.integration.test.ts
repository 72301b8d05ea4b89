import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { html, json, type Script } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { contract, expectOfAll, inference, models, offersEmbeddings, send, sendInVain } from './probe.ts';

const roomy = { ...offersEmbeddings, GUEST_LIMIT: '1000', BURST_LIMIT: '600', REQUEST_BODY_LIMIT: '1' };
/** In the middle of a minute, so that no window ends while a test runs. */
const noon = Date.UTC(2026, 5, 15, 12, 0, 30);

describe('errors', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: roomy });
    await gateway.issueKey();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const both = [...models, ...inference];
  const only = (id: string) => both.filter((operation) => operation.id === id);
  const upgrade = { method: 'GET', headers: { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' } };
  const huge = `{"model":"svc"${' '.repeat(1_048_576)}}`;
  test.each<[outcome: string, operations: typeof both, sending: Parameters<typeof sendInVain>[2]]>([
    ['401 missing_api_key', both, { headers: {} }],
    ['401 invalid_api_key', both, { headers: { 'x-api-key': 'ltk_unknown' } }],
    ['400 invalid_request', inference, { body: 'no JSON' }],
    ['400 invalid_model', inference, { body: { model: 'unknown', messages: [] } }],
    ['413 request_too_large', inference, { body: huge }],
    ['415 unsupported_encoding', inference, { headers: { 'content-encoding': 'compress' } }],
    ['426 upgrade_required', only('createResponse'), upgrade],
    ['404 model_not_found', only('getModel'), { id: 'opus' }],
  ])('%s', (outcome, operations, sending) => expectOfAll(gateway, operations, outcome, sending));

  test('403 model_not_allowed', async () => {
    const headers = { 'x-api-key': await gateway.issueKey({ models: ['svc-vision'] }) };
    await expectOfAll(gateway, inference, '403 model_not_allowed', { headers });
  });

  test.each<[path: string, extra: object]>([
    ['/v1/responses', { previous_response_id: 'resp_1' }],
    ['/v1/responses', { conversation: { id: 'conv_1' } }],
    ['/v1/responses', { background: true }],
    ['/v1/messages', { thread: { type: 'continue', previous_message_id: 'msg_1' } }],
    ['/v1/messages/count_tokens', { thread: { type: 'continue', previous_message_id: 'msg_1' } }],
  ])('%s with state: %j', async (path, extra) => {
    for (const operation of inference.filter((one) => one.path === path)) {
      const body = Object.assign({}, operation.examples.plain, extra);
      expect(contract.accepts(operation, body)).toBe(false);
      expect(await sendInVain(gateway, operation, { body })).toBe('400 invalid_request');
    }
  });

  const error = (status: number): Script =>
    json(status, { error: { message: 'AcmeCorp says no.', type: 'some_error' } }, { 'retry-after': '7' });
  test.each<[outcome: string, why: string, answer: Script]>([
    ['400 invalid_request', 'its 400', error(400)],
    ['422 invalid_request', 'its 422', error(422)],
    ['413 request_too_large', 'its 413', error(413)],
    ['500 upstream_error', 'its 500', error(500)],
    ['502 upstream_error', 'its 401', error(401)],
    ['502 upstream_error', 'HTML', html(200)],
    ['503 upstream_error', 'its 503', error(503)],
    ['503 service_unavailable', 'its 429', error(429)],
    ['504 upstream_error', 'its 504', error(504)],
    ['504 upstream_timeout', 'its 408', error(408)],
    ['529 upstream_error', 'its 529', error(529)],
  ])('%s: the upstream gives %s', async (outcome, _, answer) => {
    for (const operation of inference) {
      gateway.upstream.answer(answer);
      expect([operation.path, await sendInVain(gateway, operation)]).toEqual([operation.path, outcome]);
    }
  });

  test('404 not_found: an upstream that does not count tokens, or compact', async () => {
    for (const id of ['countTokens', 'countInputTokens', 'compactResponse']) {
      gateway.upstream.answer(error(404));
      await expectOfAll(gateway, only(id), '404 not_found');
    }
  });

  test('429', async () => {
    const environment = { ...offersEmbeddings, BURST_LIMIT: '1', MEMBER_LIMIT: '0' };
    await using poor = await startTestGateway({ environment, now: () => noon });
    poor.upstream.otherwise(error(400));
    const charged = inference.filter(({ id }) => !/^count/.test(id));
    for (const spent of [{}, { limit: 0 }]) {
      const headers = { 'x-api-key': await poor.issueKey(spent) };
      await expectOfAll(poor, charged, '429 quota_exceeded', { headers });
    }
    for (const operation of inference) {
      const headers = { 'x-api-key': await poor.issueKey({ limit: 5 }) };
      await send(poor, operation, { headers });
      expect(await sendInVain(poor, operation, { headers })).toBe('429 rate_limited');
    }
  });

  test('503 unconfigured: no upstream key, or no key ever issued', async () => {
    await using bare = await startTestGateway({ environment: { ...offersEmbeddings, UPSTREAM_API_KEYS: '' } });
    await expectOfAll(bare, inference, '503 unconfigured');
    await expectOfAll(bare, models, '503 unconfigured', { headers: { 'x-api-key': 'ltk_unknown' } });
  });

  test('503 service_unavailable: the store is gone', async () => {
    await using lame = await startTestGateway({ environment: offersEmbeddings });
    await lame.dynamoDb.close();
    await expectOfAll(lame, both, '503 service_unavailable');
  });

  test('500 internal_error: a part of the gateway fails', async () => {
    let readingsLeft = Number.POSITIVE_INFINITY;
    const now = () => {
      readingsLeft -= 1;
      if (readingsLeft === 0) throw new Error('the clock has stopped');
      return noon;
    };
    await using broken = await startTestGateway({ environment: roomy, now });
    const headers = { 'x-api-key': await broken.issueKey() };
    for (const operation of models) await send(broken, operation, { headers }); // the key is known from now on
    for (const operation of both) {
      readingsLeft = 3; // when the request began, whether the keys are still good, and whether what is known of the caller is
      expect(await sendInVain(broken, operation, { headers })).toBe('500 internal_error');
    }
  });
});

test('every documented error was seen', () => {
  expect(contract.unseen().filter((outcome) => !/ 2\d\d /.test(outcome))).toEqual([]);
});
