import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import {
  empty,
  encoded,
  flood,
  hangUp,
  head,
  html,
  json,
  type Script,
  silence,
  sse,
  write,
} from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { testRows } from '../support/test-rows.ts';
import { expectRefusal, startWatchedGateway } from '../support/watched-gateway.ts';
import { canary, wire } from '../support/wire.ts';

const unusable = { status: 502, code: 'upstream_error', reason: 'unusable', charged: 0 } as const;
const jsonHead = { 'content-type': 'application/json' };
const eventHead = { 'content-type': 'text/event-stream' };
const mebibyte = 1024 * 1024;

describe.each(dialectNames)('an upstream of %s', (dialect: DialectName) => {
  const { answer, events } = wire[dialect];
  const text = JSON.stringify(answer);
  const stream = events.join('');

  test('answers 200 with something that is not an answer', async () => {
    await using watched = await startWatchedGateway();
    const bodies: readonly Script[] = [
      empty(200),
      empty(204),
      html(200, `AcmeCorp ${canary.upstreamBody}`),
      [head(200, jsonHead), write(text.slice(0, -1))],
      [head(200, jsonHead), write('[]')],
      [head(200, jsonHead), write('null')],
      [head(200, jsonHead), write(`"${canary.upstreamBody}"`)],
      [head(200, jsonHead), write(`${text}${text}`)],
      sse(stream),
      [head(200, { ...jsonHead, 'content-length': text.length + 9 }), write(text), hangUp],
      [head(200, { ...jsonHead, 'content-encoding': 'gzip' }), write(text)],
      [head(200, { ...jsonHead, 'content-encoding': 'gzip' }), write(gzipSync(text).subarray(0, -9))],
      [head(200, { ...jsonHead, 'content-encoding': 'compress' }), write(gzipSync(text))],
    ];
    for (const script of bodies) {
      watched.gateway.upstream.answer(script);
      expectRefusal(dialect, await watched.ask(dialect), unusable);
    }
  });

  test('answers 200 with something that is not a stream', async () => {
    await using watched = await startWatchedGateway();
    const bodies: readonly Script[] = [
      empty(200),
      html(200, `AcmeCorp ${canary.upstreamBody}`),
      json(200, answer),
      json(200, { error: { message: canary.upstreamBody } }),
      sse(''),
      sse(': AcmeCorp\n\n: processing\n\n'),
      sse('data: [DONE]\n\n'),
      sse(`data: {"broken":"${canary.upstreamBody}\n\n`),
      sse(`event: x\nid: ${canary.upstreamBody}\n\n`),
      sse(Buffer.alloc(9, 0xff)),
      [head(200, { ...eventHead, 'content-encoding': 'gzip' }), write(stream)],
    ];
    for (const script of bodies) {
      watched.gateway.upstream.answer(script);
      expectRefusal(dialect, await watched.ask(dialect, { stream: true }), unusable);
    }
  });

  testRows([false, true])('answers 200 with an error', async (streamed) => {
    await using watched = await startWatchedGateway();
    const message = 'AcmeCorp is overloaded for upstream-key-one, see https://acmecorp.example/status.';
    const error = dialect === 'messages' ? { type: 'error', error: { message } } : { error: { message } };
    const event = `data: ${JSON.stringify({ type: 'error', ...error })}\n\n`;
    watched.gateway.upstream.answer(streamed ? sse(`: hi\n\n${event}`) : json(200, error));
    const outcome = await watched.ask(dialect, { stream: streamed });
    expectRefusal(dialect, outcome, { ...unusable, reason: 'reported' });
    expect(JSON.parse(outcome.text).error.message).toMatch(
      /^svc is overloaded for \(key removed\), see \(link removed\)\. This request/,
    );
  });
});

test('a content-length that is too short spoils that answer and no other', async () => {
  await using watched = await startWatchedGateway();
  const text = JSON.stringify(wire.chat.answer);
  const lie = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n${text}`;
  for (let round = 0; round < 3; round += 1) {
    watched.gateway.upstream.answer(json(200, wire.chat.answer), [({ socket }) => void socket.write(lie)]);
    expect(await watched.ask('chat')).toMatchObject({ status: 200, charged: 1 });
    expectRefusal('chat', await watched.ask('chat'), unusable);
  }
});

test('an answer of 100 MB is not read, compressed or not', async () => {
  await using watched = await startWatchedGateway();
  const { upstream } = watched.gateway;
  upstream.answer([head(200, jsonHead), flood(100 * mebibyte)]);
  expectRefusal('chat', await watched.ask('chat'), unusable);
  expect(await upstream.requests[0]?.closed).toBe('aborted');
  // What the gateway took, and what was in the connection's buffers.
  expect(upstream.requests[0]?.bytesWritten).toBeLessThan(50 * mebibyte);
  upstream.answer(encoded('gzip', Buffer.alloc(100 * mebibyte, 'x')));
  expectRefusal('chat', await watched.ask('chat'), unusable);
  upstream.answer([
    head(200, { ...jsonHead, 'content-encoding': 'gzip' }),
    write(gzipSync(Buffer.alloc(100 * mebibyte, 'x')).subarray(0, -9)),
    silence,
  ]);
  expectRefusal('chat', await watched.ask('chat'), unusable);
  expect(await upstream.requests[2]?.closed).toBe('aborted');
  // An error is never more than a sentence.
  upstream.answer([head(400, jsonHead), flood(100 * mebibyte)]);
  const outcome = await watched.ask('chat');
  expectRefusal('chat', outcome, { status: 400, code: 'invalid_request', reason: 'caller', charged: 1 });
  expect(await upstream.requests[3]?.closed).toBe('aborted');
});

test('an endless event is not read', async () => {
  await using watched = await startWatchedGateway();
  const { upstream } = watched.gateway;
  upstream.answer([head(200, eventHead), write('data: "'), flood(100 * mebibyte)]);
  expectRefusal('chat', await watched.ask('chat', { stream: true }), unusable);
  expect(await upstream.requests[0]?.closed).toBe('aborted');
});
