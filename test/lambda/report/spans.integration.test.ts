import { expect, test } from '@jest/globals';
import { createSpans } from '../../../lambda/report/spans.ts';
import { json, type Script, sse } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { startSpanReceiver } from '../../support/span-receiver.ts';
import { findIdentity } from '../../support/upstream-identity.ts';
import { canary, wire } from '../../support/wire.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${trace}-b7ad6b7169203331-01`;
const { path, question, answer, events, failureEvent } = wire.chat;
const environment = { UPSTREAM_TRACE: 'true', UPSTREAM_EMBEDDINGS_MODEL: 'acmecorp/thunder-embed' };

const idHeader = 'http.response.header.x-request-id';

interface Asking {
  readonly at?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

/** The span of each of these requests, its log line, and the headers that the upstream got first. */
async function spansOf(askings: readonly (readonly [Script, Asking?])[], optIn: readonly string[] = []) {
  await using receiver = await startSpanReceiver();
  const otel = { otelExporterOtlpEndpoint: receiver.url, otelSemconvStabilityOptIn: optIn };
  const spans = createSpans({ serviceName: 'svc', ...otel });
  await using gateway = await startTestGateway({ engine: 'web', environment, onFinished: spans.finished });
  const ids: (string | null)[] = [];
  for (const [script, { at = path, body = question, headers = {} } = {}] of askings) {
    if (script.length > 0) gateway.upstream.answer(script);
    const response = await gateway.post(at, body, { 'x-api-key': canary.clientKey, ...headers });
    await response.text();
    ids.push(response.headers.get('x-request-id'));
  }
  await gateway.stop(300);
  await spans.close();
  expect(receiver.spans).toHaveLength(askings.length);
  const text = receiver.texts.join();
  expect(text).not.toMatch(/canary|127\.0\.0|upstream-key/);
  expect(findIdentity(text)).toEqual([]);
  return ids.map((id) => {
    const span = receiver.spans.find(({ attributes }) => `${attributes[idHeader]}` === id);
    expect(span?.attributes[idHeader]).toEqual([id]);
    return {
      span,
      line: gateway.log.find(({ requestId }) => requestId === id),
      upstream: gateway.upstream.requests[0],
    };
  });
}

async function spanOf(script: Script, asking: Asking = {}) {
  const [found] = await spansOf([[script, asking]]);
  return { ...found, span: found?.span };
}

const prompt_tokens_details = { cached_tokens: 4, cache_write_tokens: 2 };
const usage = { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details };
const chat = json(200, { ...(answer as object), usage });
const named = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'svc', 'gen_ai.request.model': 'svc' };

test('a request is a span with the data of its log line, as a child of the caller’s span', async () => {
  const { span, line, upstream } = await spanOf(chat, { headers: { traceparent } });
  expect(span).toMatchObject({
    ...{ traceId: trace, parentSpanId: 'b7ad6b7169203331', name: 'chat svc', kind: 2, status: { code: 0 } },
    attributes: {
      ...named,
      ...{ 'http.request.method': 'POST', 'http.route': path, 'http.response.status_code': 200 },
      ...{ 'gen_ai.request.stream': false, 'gen_ai.response.model': 'svc', 'gen_ai.system': 'svc' },
      ...{ 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 5 },
      'gen_ai.usage.cache_read.input_tokens': 4,
      ...{ 'gen_ai.usage.cache_write.input_tokens': 2, 'gen_ai.usage.cache_creation.input_tokens': 2 },
    },
    resource: { 'service.name': 'svc' },
  });
  expect(line).toMatchObject({ trace, inputTokens: 12, outputTokens: 5, cacheReadTokens: 4 });
  // The upstream's own span comes below it.
  expect(upstream?.headers.traceparent).toBe(`00-${trace}-${span?.spanId}-01`);
  const milliseconds = (Number(span?.endTimeUnixNano) - Number(span?.startTimeUnixNano)) / 1e6;
  expect(Math.abs(milliseconds - Number(line?.duration))).toBeLessThan(2);
});

test('without a traceparent, it starts its own trace', async () => {
  const { span } = await spanOf(chat);
  expect(span).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), name: 'chat svc' });
  expect(span?.parentSpanId).toBeUndefined();
});

const requests: readonly (readonly [Script, Asking, span: object])[] = [
  [
    sse(events.join('')),
    { body: { ...question, stream: true } },
    {
      attributes: {
        ...named,
        'gen_ai.request.stream': true,
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
      },
    },
  ],
  [
    sse([events[0] ?? '', failureEvent].join('')),
    { body: { ...question, stream: true } },
    { status: { code: 2 }, attributes: { 'error.type': 'upstream_error' } },
  ],
  [json(500, {}), {}, { status: { code: 2 }, attributes: { ...named, 'error.type': 'upstream_error' } }],
  [[], { body: { model: 'unheard-of' } }, { name: `POST ${path}`, status: { code: 0 } }],
  [[], { at: '/canary' }, { name: 'POST', status: { code: 0 } }],
  [
    json(200, { data: [{ embedding: [1] }], usage: { prompt_tokens: 3 } }),
    { at: '/v1/embeddings', body: { model: 'svc-embedding', input: 'hi' } },
    {
      name: 'embeddings svc-embedding',
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.usage.input_tokens': 3 },
    },
  ],
  [
    json(200, { input_tokens: 7 }),
    { at: '/v1/messages/count_tokens', body: { model: 'svc', messages: [] } },
    { name: 'POST /v1/messages/count_tokens' },
  ],
];

test('a span says what became of any request', async () => {
  const found = await spansOf(requests.map(([script, asking]) => [script, asking]));
  expect(found.map(({ span }) => span)).toMatchObject(requests.map(([, , span]) => span));
});

test('opting in to the newest conventions drops the older names', async () => {
  const [{ span } = {}] = await spansOf([[chat]], ['http', 'gen_ai_latest_experimental']);
  expect(span?.attributes).toMatchObject({ ...named, 'gen_ai.usage.cache_write.input_tokens': 2 });
  const older = ['gen_ai.system', 'gen_ai.usage.cache_creation.input_tokens'];
  expect(Object.keys(span?.attributes ?? {}).filter((name) => older.includes(name))).toEqual([]);
});

test('losing the collector costs nothing but the spans', async () => {
  const spans = createSpans({
    ...{ serviceName: 'svc', otelExporterOtlpEndpoint: 'http://127.0.0.1:1', otelSemconvStabilityOptIn: [] },
  });
  await using gateway = await startTestGateway({ engine: 'web', onFinished: spans.finished });
  gateway.upstream.answer(chat);
  const response = await gateway.post(path, question, { 'x-api-key': 'guest' });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(canary.answer)]);
  await spans.close();
  expect(gateway.faults).toEqual([]);
});
