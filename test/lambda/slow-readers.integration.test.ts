import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { flood, head, type Script, write } from '../../local/upstream/script.ts';
import { bytesOnceStill } from '../support/fake-upstream.ts';
import { inTime } from '../support/wait-until.ts';
import { startWatchedGateway, type WatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const mebibyte = 1024 * 1024;
const eventHead = head(200, { 'content-type': 'text/event-stream' });

/** Sends a request; the client decides when it reads the answer. */
async function send({ gateway }: WatchedGateway): Promise<IncomingMessage> {
  const { path, question } = wire.chat;
  const headers = { 'x-api-key': canary.clientKey, 'content-type': 'application/json' };
  const outgoing = httpRequest(gateway.url + path, { method: 'POST', headers, agent: false });
  outgoing.end(JSON.stringify({ ...question, stream: true }));
  const [response]: IncomingMessage[] = await once(outgoing, 'response');
  if (!response) throw new Error('no answer');
  return response.pause();
}

/** Reads this many bytes, then stops. */
async function readSome(answer: IncomingMessage, size: number): Promise<void> {
  let taken = 0;
  while (taken < size) {
    const chunk: Buffer | null = answer.read();
    if (chunk === null) await inTime(once(answer, 'readable'), 'more of the answer arrives');
    else taken += chunk.length;
  }
}

const piece = wire.chat.textEvent('x'.repeat(65_536));

/**
 * What the kernel's buffers of two connections may hold, whatever the gateway does: on Linux they grow to 32 MiB for a reader and
 * 4 for a writer. What the client has read and the gateway buffers is small in comparison.
 */
const heldBySystem = 2 * (32 + 4) * mebibyte;

/** 105 MB, more than the kernel buffers, written with back-pressure. */
const long: Script = [eventHead, write(wire.chat.events[0] ?? ''), flood(1_600 * piece.length, piece)];

test('a client that reads slowly slows the upstream down (back-pressure), and gets everything in the end', async () => {
  await using watched = await startWatchedGateway({ environment: { KEEP_ALIVE_INTERVAL: '0.05' } });
  const { upstream } = watched.gateway;
  upstream.answer([...long, write(wire.chat.events.slice(-2).join(''))]);
  const response = await send(watched);
  const asked = await upstream.arrival(0);
  expect(await bytesOnceStill(upstream, asked)).toBeLessThan(heldBySystem + 20 * mebibyte);
  await readSome(response, 10 * mebibyte);
  expect(await bytesOnceStill(upstream, asked)).toBeLessThan(heldBySystem + 20 * mebibyte);
  let taken = 0;
  for await (const chunk of response) taken += chunk.length;
  expect(taken).toBeGreaterThan(85 * mebibyte);
  expect(await watched.lineOf(String(response.headers['x-request-id']))).toMatchObject({ end: 'complete' });
});

test('vectors are streamed with back-pressure too', async () => {
  await using watched = await startWatchedGateway({ environment: { UPSTREAM_EMBEDDINGS_MODEL: 'any' } });
  const { gateway } = watched;
  const size = 100 * mebibyte;
  const [begin, end] = ['{"data":[{"embedding":[', '1]}]}'];
  const jsonHead = head(200, { 'content-type': 'application/json' });
  gateway.upstream.answer([jsonHead, write(begin), flood(size, '0.1,'.repeat(16_384)), write(end)]);
  const response = await gateway.post(
    '/v1/embeddings',
    { model: 'svc-embedding', input: 'hi' },
    { 'x-api-key': 'guest' },
  );
  expect(await bytesOnceStill(gateway.upstream, await gateway.upstream.arrival(0))).toBeLessThan(
    heldBySystem + 20 * mebibyte,
  );
  let taken = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) taken += chunk.length;
  expect(taken).toBe(size + begin.length + end.length);
  expect(await watched.lineOf(response.headers.get('x-request-id'))).toMatchObject({ end: 'complete' });
});
