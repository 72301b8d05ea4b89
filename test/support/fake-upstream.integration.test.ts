import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { startDeafUpstream } from './deaf-upstream.ts';
import { bytesOnceStill, refusingUrl, startFakeUpstream } from './fake-upstream.ts';
import * as script from './upstream-script.ts';

interface Options {
  readonly body?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly agent?: Agent;
}

function post(url: string, { body = '{}', headers = {}, agent = new Agent() }: Options = {}): ClientRequest {
  const sent = request(`${url}/chat/completions?beta=true`, { method: 'POST', headers, agent });
  // A connection that breaks inside the body is reported on the request as well as on the answer.
  sent.on('error', () => {});
  return sent.end(body);
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

test('records what came in', async () => {
  await using upstream = await startFakeUpstream();
  upstream.answer(script.json(200, { ok: true }, { 'x-acmecorp-id': '7' }));
  const answer = await answerTo(post(upstream.url, { body: '{"model":"é"}', headers: { 'X-Api-Key': 'k' } }));
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-acmecorp-id': '7' });
  expect(await text(answer)).toBe('{"ok":true}');
  const received = await upstream.arrival(0);
  expect(received).toMatchObject({ method: 'POST', path: '/v1/chat/completions?beta=true', reused: false });
  expect(received.headers['x-api-key']).toBe('k');
  expect(received.rawHeaders).toContain('X-Api-Key');
  expect(received.body.toString()).toBe('{"model":"é"}');
  expect(await received.closed).toBe('answered');
});

test('answers in turn, then by the function or script for the rest', async () => {
  await using upstream = await startFakeUpstream();
  const statuses = async (count: number) => {
    const seen: (number | undefined)[] = [];
    for (let i = 0; i < count; i++) seen.push((await answerTo(post(upstream.url))).statusCode);
    return seen;
  };
  upstream.answer(script.empty(429, { 'retry-after': '2' }), script.html(502), script.redirect('http://elsewhere/'));
  expect(await statuses(4)).toEqual([429, 502, 302, 500]);
  upstream.otherwise((received) => script.json(received.body.length, null));
  expect((await answerTo(post(upstream.url, { body: 'x'.repeat(204) }))).statusCode).toBe(204);
});

test('writes in pieces, and waits for the test between two events', async () => {
  await using upstream = await startFakeUpstream();
  const gate = Promise.withResolvers<void>();
  const first = script.eventText({ event: 'ping', data: { text: 'né' } });
  upstream.answer([
    ...script.sse([]),
    script.writeByteByByte(first),
    script.until(gate.promise),
    script.writeCut('data: [DONE]\n\n', [3, 9]),
  ]);
  const answer = await answerTo(post(upstream.url));
  const pieces: Buffer[] = [];
  answer.on('data', (piece: Buffer) => pieces.push(piece));
  while (Buffer.concat(pieces).length < Buffer.byteLength(first)) await once(answer, 'data');
  expect(pieces).toHaveLength(Buffer.byteLength(first));
  expect(Buffer.concat(pieces).toString()).toBe('event: ping\ndata: {"text":"né"}\n\n');
  gate.resolve();
  await once(answer, 'end');
  expect(pieces.slice(Buffer.byteLength(first)).map(String)).toEqual(['dat', 'a: [DO', 'NE]\n\n']);
});

test.each([
  ['before the head', [script.reset]],
  ['inside the head', [script.raw('HTTP/1.1 200 OK\r\ncontent-ty'), script.reset]],
])('resets %s', async (_, steps) => {
  await using upstream = await startFakeUpstream();
  upstream.answer(steps);
  await expect(answerTo(post(upstream.url))).rejects.toMatchObject({ code: 'ECONNRESET', syscall: 'read' });
  expect(await upstream.requests[0]?.closed).toBe('cut');
});

test('breaks off a body by a reset, or by closing before its content-length', async () => {
  await using upstream = await startFakeUpstream();
  upstream.answer([script.head(200), script.write('data: {"cho'), script.reset]);
  const sent = post(upstream.url);
  const reason = new Promise((resolve) => sent.on('error', resolve));
  await expect(text(await answerTo(sent))).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await reason).toMatchObject({ syscall: 'read' });
  upstream.answer([script.head(200, { 'content-length': 99 }), script.write('short'), script.hangUp]);
  await expect(text(await answerTo(post(upstream.url)))).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('sends more than its content-length says', async () => {
  await using upstream = await startFakeUpstream();
  upstream.answer([script.head(200, { 'content-length': 4 }), script.write('{}  {"more":1}')]);
  const client = connect(Number(new URL(upstream.url).port), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(await text(client)).toMatch(/content-length: 4\r\n(.*\r\n)*\r\n\{\} {2}\{"more":1\}$/);
});

test('stays silent until the client leaves', async () => {
  await using upstream = await startFakeUpstream();
  upstream.answer([], [...script.sse('data: 1\n\n'), script.silence]);
  const unanswered = post(upstream.url);
  const received = await upstream.arrival(0);
  unanswered.destroy();
  expect(await received.closed).toBe('aborted');
  const answer = await answerTo(post(upstream.url));
  await once(answer, 'data');
  answer.on('error', () => {}).destroy();
  expect(await upstream.requests[1]?.closed).toBe('aborted');
});

test('encodes bodies', async () => {
  await using upstream = await startFakeUpstream();
  for (const [encoding, decode] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
    ['deflate', inflateSync],
  ] as const) {
    upstream.answer(script.encoded(encoding, '{"a":1}'));
    const answer = await answerTo(post(upstream.url));
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(decode(await buffer(answer)).toString()).toBe('{"a":1}');
  }
});

test('shows whether the reader holds back', async () => {
  await using upstream = await startFakeUpstream();
  const size = 100_000_000;
  upstream.answer([script.head(200), script.flood(size)]);
  const answer = await answerTo(post(upstream.url));
  await once(answer, 'readable');
  const received = await upstream.arrival(0);
  expect(await bytesOnceStill(upstream, received)).toBeLessThan(size / 4);
  let read = 0;
  for await (const piece of answer) read += (piece as Buffer).length;
  expect([read, received.bytesWritten]).toEqual([size, size]);
});

test('resets a reused connection before any answer', async () => {
  await using upstream = await startFakeUpstream();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  upstream.otherwise((received) => (received.reused ? [script.reset] : script.json(200, {})));
  await text(await answerTo(post(upstream.url, { agent })));
  await expect(answerTo(post(upstream.url, { agent }))).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect((await answerTo(post(upstream.url, { agent }))).statusCode).toBe(200);
  expect(upstream.requests.map(({ connection, reused }) => [connection, reused])).toEqual([
    [1, false],
    [1, true],
    [2, false],
  ]);
  agent.destroy();
});

test('sends interim answers before the real one', async () => {
  await using upstream = await startFakeUpstream();
  upstream.answer([script.interim(103, { link: '</a>' }), ...script.json(200, {})]);
  const sent = post(upstream.url);
  const seen: number[] = [];
  sent.on('information', ({ statusCode }) => seen.push(statusCode));
  expect((await answerTo(sent)).statusCode).toBe(200);
  expect(seen).toEqual([103]);
});

test('reports a script that throws', async () => {
  const upstream = await startFakeUpstream();
  upstream.answer(() => {
    throw new Error('wrong script');
  });
  await expect(answerTo(post(upstream.url))).rejects.toThrow();
  await expect(upstream.close()).rejects.toMatchObject({ errors: [{ message: 'wrong script' }] });
});

test('refuses connections, or neither refuses nor accepts them', async () => {
  await expect(answerTo(post(refusingUrl))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await using deaf = await startDeafUpstream();
  await using upstream = await startFakeUpstream();
  const sent = post(deaf.url);
  const [socket] = await once(sent, 'socket');
  for (let round = 0; round < 20; round += 1) await text(await answerTo(post(upstream.url)));
  expect(socket.connecting).toBe(true);
  sent.destroy();
});
