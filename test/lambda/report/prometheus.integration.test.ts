import { describe, expect, test } from '@jest/globals';
import { createPrometheus } from '../../../lambda/report/prometheus.ts';
import { head, json, type Script, silence, sse, write } from '../../../local/upstream/script.ts';
import { readExposition, readValue } from '../../support/exposition.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { findIdentity } from '../../support/upstream-identity.ts';
import { canary, wire } from '../../support/wire.ts';

const { path, question, answer, events, failureEvent } = wire.chat;
const atRest = { requests: 0, streams: 0, held: 0, budget: 1 };
const usage = { prompt_tokens: 12, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
const chat = json(200, { ...(answer as object), usage });
const streamed = { ...question, stream: true };

/** A gateway with its metrics. */
async function startMeasured(environment: Readonly<Record<string, string>> = {}, clock?: () => number) {
  const prometheus = createPrometheus(clock ?? Date.now);
  const { finished, measured } = prometheus;
  const hooks = { onFinished: finished, onMeasured: measured, ...(clock && { now: clock }) };
  const gateway = await startTestGateway({ engine: 'web', environment, ...hooks });
  const ask = async (
    script: Script,
    { at = path, body = question as unknown, key = canary.clientKey as string } = {},
  ) => {
    gateway.upstream.answer(script);
    const response = await gateway.post(at, body, { 'x-api-key': key });
    await response.text();
    return response.status;
  };
  const read = (name: string, labels = {}) => readValue(prometheus.render(atRest), name, labels);
  return {
    gateway,
    ask,
    read,
    requests: (labels: object) => read('http_server_request_duration_seconds_count', labels),
    render: () => prometheus.render(atRest),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

const labels = { http_request_method: 'POST', http_route: path, http_response_status_code: '200' };
const ofModel = { gen_ai_operation_name: 'chat', gen_ai_request_model: 'svc', http_route: path };

describe('requests are counted by endpoint, outcome and model', () => {
  test('an answer, with its tokens', async () => {
    await using measured = await startMeasured();
    expect(await measured.ask(chat)).toBe(200);
    await measured.gateway.stop(300);
    const { read, requests } = measured;
    expect(requests(labels)).toBe(1);
    expect(read('gen_ai_server_request_duration_seconds_count', ofModel)).toBe(1);
    expect(read('gen_ai_client_token_usage_sum', { ...ofModel, gen_ai_token_type: 'input' })).toBe(12);
    expect(read('gen_ai_client_token_usage_sum', { ...ofModel, gen_ai_token_type: 'output' })).toBe(5);
    expect(read('gateway_cache_read_tokens_total')).toBe(4);
    expect(read('gen_ai_server_time_to_first_token_seconds_count', ofModel)).toBeUndefined();
    expect([read('gateway_upstream_tries_total'), read('gateway_refunds_total')]).toEqual([1, 0]);
  });

  test('a stream has a time to its first event, and one that broke off its error', async () => {
    await using measured = await startMeasured();
    await measured.ask(sse(events.join('')), { body: streamed });
    await measured.ask(sse([events[0] ?? '', failureEvent].join('')), { body: streamed });
    await measured.gateway.stop(300);
    const { read, requests } = measured;
    const failed = { error_type: 'upstream_error' };
    expect(read('gen_ai_server_time_to_first_token_seconds_count', ofModel)).toBe(2);
    expect(requests(labels)).toBe(1);
    expect(requests({ ...labels, ...failed })).toBe(1);
    expect(read('gen_ai_server_request_duration_seconds_count', { ...ofModel, ...failed })).toBe(1);
    expect(read('gateway_upstream_failures_total', { error_type: 'reported' })).toBe(1);
    expect(read('gateway_refunds_total')).toBe(1);
  });

  test('a failing upstream by the class of the failure, and every try', async () => {
    await using measured = await startMeasured({ UPSTREAM_API_KEYS: 'one,two' });
    measured.gateway.upstream.otherwise(json(401, {}));
    expect(await measured.ask(json(401, {}))).toBe(502);
    await measured.gateway.stop(300);
    expect(measured.read('gateway_upstream_failures_total', { error_type: 'credentials' })).toBe(2);
    expect(measured.read('gateway_upstream_tries_total')).toBe(2);
  });

  test('refusals of quota and burst by their code', async () => {
    await using measured = await startMeasured({ GUEST_LIMIT: '1' });
    await measured.ask(chat);
    expect(await measured.ask([])).toBe(429);
    await measured.gateway.stop(300);
    const refused = { ...labels, http_response_status_code: '429', error_type: 'quota_exceeded' };
    expect(measured.requests(refused)).toBe(1);
  });

  test('embeddings as such; models, unknown paths and methods without a model', async () => {
    await using measured = await startMeasured({ UPSTREAM_EMBEDDINGS_MODEL: 'acmecorp/thunder-embed' });
    const vectors = json(200, { data: [{ embedding: [1] }], usage: { prompt_tokens: 3 } });
    await measured.ask(vectors, { at: '/v1/embeddings', body: { model: 'svc-embedding', input: 'hi' } });
    await measured.ask(json(200, { input_tokens: 7 }), {
      at: '/v1/messages/count_tokens',
      body: { model: 'svc', messages: [] },
    });
    await fetch(`${measured.gateway.url}/v1/models`, { headers: { 'x-api-key': 'x' } });
    await fetch(`${measured.gateway.url}/${canary.prompt}`, { method: 'MKCOL' });
    await fetch(measured.gateway.url + path, { method: 'OPTIONS' });
    await measured.gateway.stop(300);
    const { read, render, requests } = measured;
    const embedded = {
      gen_ai_operation_name: 'embeddings',
      gen_ai_request_model: 'svc-embedding',
      http_route: '/v1/embeddings',
    };
    expect(read('gen_ai_server_request_duration_seconds_count', embedded)).toBe(1);
    const listed = { http_request_method: 'GET', http_route: '/v1/models', http_response_status_code: '200' };
    expect(requests(listed)).toBe(1);
    const lost = { http_request_method: '_OTHER', http_response_status_code: '404', error_type: 'not_found' };
    expect(requests(lost)).toBe(1);
    expect(render()).not.toContain('OPTIONS');
    // A count of tokens is no request to a model.
    const counted = '/v1/messages/count_tokens';
    expect(requests({ ...labels, http_route: counted })).toBe(1);
    expect(read('gen_ai_server_request_duration_seconds_count', { ...ofModel, http_route: counted })).toBeUndefined();
  });

  test('who left before the end', async () => {
    await using measured = await startMeasured();
    const { gateway } = measured;
    gateway.upstream.answer([head(200, { 'content-type': 'text/event-stream' }), write(events[0] ?? ''), silence]);
    const left = new AbortController();
    const body = JSON.stringify(streamed);
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body,
      headers: { 'x-api-key': 'x' },
      signal: left.signal,
    });
    await response.body?.getReader().read();
    left.abort();
    await gateway.stop(60_000);
    expect(measured.requests({ ...labels, error_type: 'client_gone' })).toBe(1);
  });
});

test('what answers cost, and how much of the day’s limits is used, until the day is over', async () => {
  let time = Date.UTC(2026, 10, 28, 12);
  const settings = {
    PRICES: '{"svc": {"input": 2, "output": 10}, "svc-vision": {"input": 1, "output": 4}}',
    SPEND_LIMIT: '1',
    DAILY_LIMIT: '10',
  };
  await using measured = await startMeasured(settings, () => time);
  await measured.ask(chat);
  await measured.ask(chat);
  await measured.gateway.stop(300);
  const { read } = measured;
  expect(read('gateway_spent_total', { gen_ai_request_model: 'svc' })).toBeCloseTo(2 * 0.000074, 9);
  expect(read('gateway_limit_used_ratio', { limit: 'daily_limit' })).toBe(0.2);
  time += 12 * 3_600_000;
  expect(read('gateway_limit_used_ratio', { limit: 'daily_limit' })).toBeUndefined();
});

test('no metric tells who called, what was said, or who answers, and whatever callers send, there are no more series', async () => {
  await using measured = await startMeasured({ BURST_LIMIT: '1000', GUEST_LIMIT: '1000' });
  await measured.ask(chat, { key: await measured.gateway.issueKey() });
  await measured.ask(json(400, { error: { message: canary.upstreamBody } }));
  await measured.gateway.upstream.answer(chat);
  const url = (number: number) => `${measured.gateway.url}/${canary.prompt}-${number}`;
  const seriesAfter = async (from: number) => {
    for (let number = from; number < from + 4; number += 1) {
      await fetch(url(number), { method: number % 2 ? 'GET' : 'POST', headers: { 'x-api-key': `${number}` } });
      await measured.ask([], { body: { model: `model-${number}`, messages: [] } });
    }
    return measured.render().split('\n').length;
  };
  expect(await seriesAfter(0)).toBe(await seriesAfter(4));
  await measured.gateway.stop(300);
  const text = measured.render();
  expect(text).not.toMatch(/canary|ltk_|key_|127\.0\.0|member/);
  expect(findIdentity(text)).toEqual([]);
});

test('the server’s state, and the process', () => {
  const text = createPrometheus(() => 1_700_000_000_000).render({ requests: 3, streams: 2, held: 10, budget: 99 });
  const families = readExposition(text);
  expect(readValue(text, 'http_server_active_requests')).toBe(3);
  expect(readValue(text, 'gateway_open_streams')).toBe(2);
  expect(readValue(text, 'gateway_body_memory_bytes')).toBe(10);
  expect(readValue(text, 'gateway_body_memory_limit_bytes')).toBe(99);
  expect(readValue(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(readValue(text, 'process_start_time_seconds')).toBeLessThan(1_700_000_000);
  expect(families.get('process_cpu_seconds_total')?.type).toBe('counter');
});
