import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { createHttpClient, type SendRequest, type UpstreamAnswer } from '../../../lambda/upstream/http-client.ts';
import { hangUp, head, json, raw, reset, silence, until, write } from '../../../local/upstream/script.ts';

import { type FakeUpstream, refusingUrl, startFakeUpstream } from '../../support/fake-upstream.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime, turnEventLoop, waitUntil } from '../../support/wait-until.ts';

let upstream: FakeUpstream;
let send: SendRequest;
const never = new AbortController().signal;
const connectTimeout = 5_000;

beforeEach(async () => {
  upstream = await startFakeUpstream();
  ({ send } = createHttpClient({ connectTimeout, now: Date.now }));
});
afterEach(() => upstream.close());

const ask = (signal = never, url = upstream.url): Promise<UpstreamAnswer> =>
  send({ url, headers: { 'x-some': 'thing' }, pieces: ['{"a":', '1}'] }, signal);
const answerOf = async (signal?: AbortSignal) => text((await ask(signal)).body);
const fine = json(200, { fine: true });
const failure = (kind: string) => expect.objectContaining({ name: 'UpstreamFailure', kind });

describe('a request', () => {
  test('arrives unchanged, and its response comes back', async () => {
    upstream.answer(json(418, { fine: true }, { 'x-other': 'thing' }));
    const { status, headers, body } = await ask();
    expect([status, headers['x-other'], await text(body)]).toEqual([418, 'thing', '{"fine":true}']);
    const [{ method, headers: sent, body: received } = {}] = upstream.requests;
    expect([method, sent?.['x-some'], received?.toString()]).toEqual(['POST', 'thing', '{"a":1}']);
  });

  test('reuses connections, of which 64 are kept alive', async () => {
    upstream.otherwise(fine);
    const crowd = async () => {
      const before = upstream.requests.length;
      await Promise.all(Array.from({ length: 70 }, () => answerOf()));
      return upstream.requests.slice(before).filter(({ reused }) => reused).length;
    };
    expect([await crowd(), await crowd()]).toEqual([0, 64]);
  });

  test.each([
    ['forgets a large body once it is sent, which goes on a fresh connection', 65_537, true, false],
    ['keeps a small one for a second try, and uses a connection again', 65_536, false, true],
  ])('%s', async (_, size, forgets, reuses) => {
    upstream.answer(fine, [silence]);
    await answerOf();
    let forgotten = false;
    const request = { url: upstream.url, headers: { 'content-length': `${size}` }, pieces: ['x'.repeat(size)] };
    const leaving = new AbortController();
    const answered = send(request, leaving.signal, () => {
      forgotten = true;
    });
    const { reused } = await upstream.arrival(1);
    await turnEventLoop(20);
    expect([forgotten, reused]).toEqual([forgets, reuses]);
    leaving.abort();
    await expect(answered).rejects.toThrow();
  });

  test('leaves no listener on its signal', async () => {
    upstream.otherwise(fine);
    const { signal } = new AbortController();
    await answerOf(signal);
    await answerOf(signal);
    await waitUntil(() => getEventListeners(signal, 'abort').length === 0, 'nothing listens to the signal');
  });

  test('stops being sent when its response is over', async () => {
    const size = 100_000_000;
    const over = Promise.withResolvers<number>();
    // Answers at once, and keeps reading only to see what still arrives.
    const server = createServer((socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
      socket.on('error', () => {}).once('close', () => over.resolve(socket.bytesRead));
      answered.promise.then(() => socket.on('data', () => socket.bytesRead > size && over.resolve(socket.bytesRead)));
    });
    const answered = Promise.withResolvers<void>();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const request = { url: `http://127.0.0.1:${port}/`, headers: {}, pieces: ['x'.repeat(size)] };
    const { status, body } = await send(request, never);
    expect([status, await text(body)]).toEqual([413, 'no']);
    answered.resolve();
    expect(await inTime(over.promise, 'the connection to the upstream is over')).toBeLessThan(size);
    server.close();
  });
});

describe('a connection', () => {
  test('that opened in time may be silent for longer than the connect timeout', async () => {
    using timers = stopTimers();
    const released = Promise.withResolvers<void>();
    upstream.otherwise([until(released.promise), ...fine]);
    const answers = [answerOf(), answerOf()];
    await upstream.arrival(1);
    timers.pass(connectTimeout);
    released.resolve();
    expect(await Promise.all(answers)).toEqual(['{"fine":true}', '{"fine":true}']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('that is refused leaves nothing behind', async () => {
    using _timers = stopTimers();
    const { signal } = new AbortController();
    await expect(ask(signal, refusingUrl)).rejects.toEqual(failure('unreachable'));
    await expect(ask(signal, refusingUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await waitUntil(() => getEventListeners(signal, 'abort').length === 0, 'nothing listens to the signal');
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each([
    ['reset', reset],
    ['closed', hangUp],
  ])('that is reused and %s before any answer is replaced by a fresh one, once', async (_name, death) => {
    upstream.answer(fine, [death], fine, fine, [death], [death]);
    expect(await answerOf()).toBe('{"fine":true}');
    expect(await answerOf()).toBe('{"fine":true}');
    expect(upstream.requests.map(({ reused }) => reused)).toEqual([false, true, false]);
    await answerOf();
    await expect(ask()).rejects.toEqual(failure('unreachable'));
    expect(upstream.requests).toHaveLength(6);
  });

  test('that has brought the beginning of a response is not retried', async () => {
    upstream.answer(fine, [raw('HTTP/1.1 200 O'), hangUp], fine);
    await answerOf();
    await expect(ask()).rejects.toEqual(failure('unreachable'));
    await answerOf(); // arrives after any retry
    expect(upstream.requests.map(({ reused }) => reused)).toEqual([false, true, false]);
  });
});

describe('an answer', () => {
  testRows([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
    [' GZIP ', gzipSync],
    ['identity', Buffer.from],
    ['unheard-of', Buffer.from],
  ])('in any encoding is decoded', async (encoding, encode) => {
    upstream.answer([head(200, { 'content-encoding': encoding }), write(encode(Buffer.from('thing')))]);
    expect(await answerOf()).toBe('thing');
  });

  testRows([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('is decoded to its end, however many parts one read brings', async (encoding, encode) => {
    const [first, second, third] = ['a', 'b', 'c'].map((text) => encode(Buffer.from(text)));
    const all = Buffer.concat([first, second, third].filter((part) => part !== undefined));
    const given = head(200, { 'content-encoding': encoding });
    upstream.answer([given, write(all)], [given, write(all.subarray(0, -1))]);
    expect(await answerOf()).toBe('abc');
    await expect(answerOf()).rejects.toThrow('unexpected end of file');
  });
});
