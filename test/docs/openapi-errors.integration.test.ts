import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { html, json, type Script } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { contract, expectOfAll, inference, models, send, sendInVain } from './probe.ts';

const roomy = { GUEST_LIMIT: '1000', BURST_LIMIT: '600' };
/** In the middle of a minute, so that no window ends while a test runs. */
const noon = Date.UTC(2026, 5, 15, 12, 0, 30);

describe('errors', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ environment: roomy });
    await gateway.issueKey();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const huge = `{"model":"svc"${' '.repeat(6_291_456)}}`;
  test.each<[outcome: string, sending: Parameters<typeof sendInVain>[2]]>([
    ['401 missing_api_key', { headers: {} }],
    ['401 invalid_api_key', { headers: { 'x-api-key': 'ltk_unknown' } }],
    ['400 invalid_request', { body: 'no JSON' }],
    ['400 invalid_model', { body: { model: 'unknown', messages: [] } }],
    ['413 request_too_large', { body: huge }],
    ['415 unsupported_encoding', { headers: { 'content-encoding': 'compress' } }],
  ])('%s', (outcome, sending) => expectOfAll(gateway, inference, outcome, sending));

  test('403 model_not_allowed', async () => {
    const headers = { 'x-api-key': await gateway.issueKey({ models: ['svc-vision'] }) };
    await expectOfAll(gateway, inference, '403 model_not_allowed', { headers });
  });

  test('/v1/responses has no WebSockets', async () => {
    const responses = inference.filter(({ path }) => path === '/v1/responses');
    const headers = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    await expectOfAll(gateway, responses, '426 upgrade_required', { method: 'GET', headers });
  });

  test('the models refuse keys', async () => {
    await expectOfAll(gateway, models, '401 missing_api_key', { headers: {} });
    await expectOfAll(gateway, models, '401 invalid_api_key', { headers: { 'x-api-key': 'ltk_unknown' } });
  });

  test('/v1/models/{id} of an unknown id', async () => {
    const model = models.filter(({ id }) => id === 'getModel');
    await expectOfAll(gateway, model, '404 model_not_found', { id: 'opus' });
  });

  test.each<[path: string, extra: object]>([
    ['/v1/responses', { previous_response_id: 'resp_1' }],
    ['/v1/responses', { conversation: { id: 'conv_1' } }],
    ['/v1/responses', { background: true }],
    ['/v1/messages', { thread: { id: 'thread_1' } }],
    ['/v1/messages/count_tokens', { thread: { id: 'thread_1' } }],
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

  test('404 not_found: an upstream that does not count tokens', async () => {
    gateway.upstream.answer(error(404));
    const counting = inference.filter(({ id }) => id === 'countTokens');
    await expectOfAll(gateway, counting, '404 not_found');
  });

  test.each(inference)('429: $path', async (operation) => {
    await using fast = await startTestGateway({ environment: { BURST_LIMIT: '1' }, now: () => noon });
    fast.upstream.otherwise(error(400));
    await send(fast, operation);
    expect(await sendInVain(fast, operation)).toBe('429 rate_limited');
  });

  test.each(inference.filter(({ id }) => id !== 'countTokens'))('429, used up: $path', async (operation) => {
    for (const GUEST_WINDOW of ['lifetime', 'daily']) {
      await using poor = await startTestGateway({ environment: { GUEST_LIMIT: '1', GUEST_WINDOW }, now: () => noon });
      poor.upstream.otherwise(error(400));
      await send(poor, operation);
      expect(await sendInVain(poor, operation)).toBe('429 quota_exceeded');
    }
  });

  test('503 unconfigured: no upstream key, or no key ever issued', async () => {
    await using bare = await startTestGateway({ environment: { UPSTREAM_API_KEYS: '' } });
    await expectOfAll(bare, inference, '503 unconfigured');
    await expectOfAll(bare, models, '503 unconfigured', { headers: { 'x-api-key': 'ltk_unknown' } });
  });

  test('503 service_unavailable: the store is gone', async () => {
    await using lame = await startTestGateway();
    await lame.dynamoDb.close();
    await expectOfAll(lame, [...models, ...inference], '503 service_unavailable');
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
    for (const operation of [...models, ...inference]) {
      readingsLeft = 2; // first to note when the request began, then to see whether what is known is still good
      expect(await sendInVain(broken, operation, { headers })).toBe('500 internal_error');
    }
  });
});

test('every documented error was seen', () => {
  expect(contract.unseen().filter((outcome) => !/ 2\d\d /.test(outcome))).toEqual([]);
});
