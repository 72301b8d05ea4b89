import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, jest, test } from '@jest/globals';
import type { Answer } from '../../local/runtime/runtime-api.ts';
import { head, json, until, write } from '../../local/upstream/script.ts';
import { startArtifact } from '../support/artifact.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { synthesize } from '../support/synthesize.ts';
import { wire } from '../support/wire.ts';

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

const { path, question, events } = wire.chat;
const asked = JSON.stringify({ ...question, model: 'text-model' });
const answered = json(200, { ...Object(wire.chat.answer), model: 'text-model' });

test('is synthesized with no word but that its upstream is an example and who may spend, and deploys code only', () => {
  expect(synthesized.output.replace(/: [^\n]*/g, '')).toBe('warning\nwarning\n');
  expect(synthesized.output).toMatch(/gateway\.defaults: UPSTREAM_BASE_URL is an example/);
  expect(synthesized.output).toMatch(/gateway\.stages\.dev: ACCESS is open, and nothing limits/);
  expect(readdirSync(synthesized.gateway.folder).filter((file) => !file.endsWith('.mjs'))).toEqual([]);
});

test('answers, its status and headers in the prelude', async () => {
  upstream.answer(answered);
  const answer = await artifact.invoke(post(path, question));
  expect(headOf(answer)).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'x-svc-limit': '1000', 'x-svc-remaining': '999' },
  });
  expect(JSON.parse(await text(answer.body))).toEqual({ ...Object(wire.chat.answer), model: 'svc' });
  expect(upstream.requests.at(-1)).toMatchObject({
    path,
    headers: { authorization: 'Bearer upstream-key' },
  });
  expect(upstream.requests.at(-1)?.body.toString()).toBe(asked);
});

test('logs its commit at the start', () => {
  const [line = ''] = artifact.output().split('\n');
  expect(JSON.parse(line)).toEqual({ time: expect.any(String), level: 'info', message: 'started', commit });
});

test('passes each event on before the next is there', async () => {
  const seen = Promise.withResolvers<void>();
  const [first = '', ...others] = events;
  const script = [head(200, { 'content-type': 'text/event-stream' }), write(first), until(seen.promise)];
  upstream.answer([...script, ...others.map((event) => write(event))]);
  const answer = await artifact.invoke(post(path, { ...question, stream: true }));
  expect(headOf(answer)).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': expect.stringMatching(/^text\/event-stream/) },
  });
  let received = '';
  for await (const piece of answer.body) {
    received += piece;
    if (received.endsWith('\n\n')) seen.resolve();
  }
  expect(received).toBe(events.join('').replaceAll('acmecorp/thunder-70b-instruct', 'svc'));
});

test('reads a compressed body, whether the platform calls it base64 or not', async () => {
  upstream.answer(answered);
  const body = gzipSync(JSON.stringify(question)).toString('base64');
  const event = { ...post(path, '', { 'content-encoding': 'gzip' }), body, isBase64Encoded: true };
  expect(headOf(await artifact.invoke(event)).statusCode).toBe(200);
  expect(upstream.requests.at(-1)?.body.toString()).toBe(asked);
  // Bytes that are no UTF-8 are lost in a text: that is a damaged body, and no fault of the gateway's.
  const lossy = { ...event, body: gzipSync(JSON.stringify(question)).toString('utf8'), isBase64Encoded: false };
  expect(headOf(await artifact.invoke(lossy)).statusCode).toBe(400);
});

test('is unconfigured until the operator has filled in the secret', async () => {
  await using fresh = await startDeployed({});
  const answer = await fresh.invoke(post(path, question));
  expect(headOf(answer)).toMatchObject({ statusCode: 503, headers: { 'x-svc-error': 'unconfigured' } });
});

test('does not start on a wrong setting, and says which', async () => {
  await using broken = await startDeployed({ GUEST_LIMIT: 'three' });
  await expect(broken.invoke(post(path, question))).rejects.toThrow(
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
