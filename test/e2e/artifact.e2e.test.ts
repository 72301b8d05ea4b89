import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, jest, test } from '@jest/globals';
import type { Answer } from '../../local/runtime/runtime-api.ts';
import { eventText, head, json, until, write } from '../../local/upstream/script.ts';
import { startArtifact } from '../support/artifact.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { synthesize } from '../support/synthesize.ts';

jest.setTimeout(60_000);

const commit = '0123456789abcdef0123456789abcdef01234567';
const [synthesized, upstream] = await Promise.all([synthesize(), startFakeUpstream()]);
const startDeployed = (environment: Record<string, string>, upstreamKeys?: string) =>
  startArtifact({
    gateway: synthesized.gateway,
    environment: { UPSTREAM_BASE_URL: upstream.url, ...environment },
    ...(upstreamKeys && { upstreamKeys }),
  });

const generous = { GUEST_LIMIT: '1000', BURST_LIMIT: '600' };
const artifact = await startDeployed({ ...generous, DEPLOYED_COMMIT: commit }, 'upstream-key');
afterAll(async () => {
  await artifact[Symbol.asyncDispose]();
  await upstream.close();
  await synthesized[Symbol.asyncDispose]();
});

const question = { model: 'svc', messages: [{ role: 'user', content: 'Hello' }] };

test('is synthesized with no word but that its upstream is an example, and deploys code only', () => {
  expect(synthesized.output).toMatch(
    /^warning: cdk\.json, gateway\.defaults: UPSTREAM_BASE_URL is an example[^\n]*\n$/,
  );
  expect(readdirSync(synthesized.gateway.folder).filter((file) => !file.endsWith('.mjs'))).toEqual([]);
});

test('answers, its status and headers in the prelude', async () => {
  upstream.answer(json(200, completion('text-model')));
  const answer = await artifact.invoke(post('/v1/chat/completions', question));
  expect(headOf(answer)).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'x-svc-limit': '1000', 'x-svc-remaining': '999' },
  });
  expect(JSON.parse(await text(answer.body))).toEqual(completion('svc'));
  expect(upstream.requests.at(-1)).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer upstream-key' },
  });
  expect(upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify({ ...question, model: 'text-model' }));
});

test('logs its commit at the start', () => {
  const [line = ''] = artifact.output().split('\n');
  expect(JSON.parse(line)).toEqual({ time: expect.any(String), level: 'info', message: 'started', commit });
});

test('passes each event on before the next is there', async () => {
  const seen = Promise.withResolvers<void>();
  const last = [write(eventText(chunk('text-model', 'two'))), write(eventText({ data: '[DONE]' }))];
  upstream.answer([
    head(200, { 'content-type': 'text/event-stream' }),
    write(eventText(chunk('text-model', 'one'))),
    until(seen.promise),
    ...last,
  ]);
  const answer = await artifact.invoke(post('/v1/chat/completions', { ...question, stream: true }));
  expect(headOf(answer)).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': expect.stringMatching(/^text\/event-stream/) },
  });
  let received = '';
  for await (const piece of answer.body) {
    received += piece;
    if (received === eventText(chunk('svc', 'one'))) seen.resolve();
  }
  expect(received).toBe([chunk('svc', 'one'), chunk('svc', 'two'), { data: '[DONE]' }].map(eventText).join(''));
});

test('reads a compressed body, whether the platform calls it base64 or not', async () => {
  upstream.answer(json(200, completion('text-model')));
  const body = gzipSync(JSON.stringify(question)).toString('base64');
  const event = { ...post('/v1/chat/completions', '', { 'content-encoding': 'gzip' }), body, isBase64Encoded: true };
  expect(headOf(await artifact.invoke(event)).statusCode).toBe(200);
  expect(upstream.requests.at(-1)?.body.toString()).toBe(JSON.stringify({ ...question, model: 'text-model' }));
  // Bytes that are no UTF-8 are lost in a text: that is a damaged body, and no fault of the gateway's.
  const lossy = { ...event, body: gzipSync(JSON.stringify(question)).toString('utf8'), isBase64Encoded: false };
  expect(headOf(await artifact.invoke(lossy)).statusCode).toBe(400);
});

test('is unconfigured until the operator has filled in the secret', async () => {
  await using fresh = await startDeployed({});
  const answer = await fresh.invoke(post('/v1/chat/completions', question));
  expect(headOf(answer)).toMatchObject({ statusCode: 503, headers: { 'x-svc-error': 'unconfigured' } });
});

test('does not start on a wrong setting, and says which', async () => {
  await using broken = await startDeployed({ GUEST_LIMIT: 'three' });
  await expect(broken.invoke(post('/v1/chat/completions', question))).rejects.toThrow(
    /the function did not start: .*GUEST_LIMIT must be a whole number/,
  );
});

/** The prelude with its headers' names in lower case, as HTTP does not tell them apart. */
function headOf({ statusCode, headers }: Answer) {
  return { statusCode, headers: Object.fromEntries(new Headers(headers)) };
}

/** A request as a Function URL hands it over. */
function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'x-api-key': 'anything', ...headers },
    requestContext: { http: { method: 'POST', path, sourceIp: '192.0.2.1' } },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  };
}

function completion(model: string) {
  const message = { role: 'assistant', content: 'Hello to you' };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  };
}

function chunk(model: string, content: string) {
  return {
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      model,
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    },
  };
}
