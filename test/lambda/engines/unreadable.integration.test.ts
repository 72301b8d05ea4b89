import { expect, test } from '@jest/globals';
import { listen } from '../../../lambda/engines/listen.ts';
import type { IncomingRequest } from '../../../lambda/request/incoming-request.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { turnEventLoop, waitUntil } from '../../support/wait-until.ts';
import { end, openRaw, post, serveApp } from './raw-client.ts';

const get = `GET /good HTTP/1.1\r\nhost: x\r\n${end}`;
const chunked = `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n${end}`;
const notHttp = '<The request is not HTTP/1.1 that the gateway understands. Send it with an HTTP client.>';
const tooLong = '<The path and headers of a request may have 16 KiB together. Send fewer or shorter ones.>';
const answer = (body: string) => ({ statusCode: 200, headers: {}, body });
const head = (status: string, body: string) =>
  `HTTP/1.1 ${status}\r\nx-a: b\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;

testRows([
  ['no HTTP', 'hello\r\n\r\n', head('400 Bad Request', notHttp)],
  ['TLS', '\u0016\u0003\u0001\u0002\u0000', head('400 Bad Request', notHttp)],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', head('400 Bad Request', notHttp)],
  ['a body with an invalid chunk', `${chunked}zz\r\n`, head('400 Bad Request', notHttp)],
  ['long headers', `${post(0)}a: ${'x'.repeat(20_000)}\r\n`, head('431 Request Header Fields Too Large', tooLong)],
  ['a long path', `GET /${'x'.repeat(100_000)}`, head('431 Request Header Fields Too Large', tooLong)],
])('malformed HTTP is refused in the app’s format', async (_, bytes, expected) => {
  await using server = await serveApp(async ({ takeBody }) => answer(`${await takeBody()}`));
  const client = await openRaw(server.url);
  client.send(bytes);
  expect(await client.rest()).toBe(expected);
  expect(server.faults).toEqual([]);
});

test('even after other requests on the same connection', async () => {
  await using server = await serveApp(async ({ path }) => answer(path));
  const client = await openRaw(server.url);
  client.send(get);
  await client.until(/\/good$/);
  client.send(`hello\r\n${end}`);
  expect(await client.rest()).toMatch(/^HTTP\/1\.1 200 .*\/goodHTTP\/1\.1 400 Bad Request\r\n.*>$/s);
});

test('a request without a Host header is refused in order, without waiting for its body', async () => {
  const held = Promise.withResolvers<void>();
  await using server = await serveApp(async ({ path }) => {
    await held.promise;
    return answer(path);
  });
  using timers = stopTimers();
  const client = await openRaw(server.url);
  client.send(`${get}${post(9_999).replace(/host.*\r\n/, '')}${end}half`);
  await turnEventLoop(20);
  held.resolve();
  expect(await client.until(/>$/)).toMatch(
    /^HTTP\/1\.1 200 .*\/goodHTTP\/1\.1 400 Bad Request\r\n.*<The request has no Host header\. Send it with an HTTP client\.>$/s,
  );
  client.send('rest');
  timers.pass(1_000);
  expect(await client.rest()).toMatch(/connection: close/i);
  expect(server.faults).toEqual([]);
});

test('but nothing is written that could be read as the response to an earlier request, or as a part of it', async () => {
  const held = Promise.withResolvers<void>();
  await using server = await serveApp(async ({ path, takeBody }: IncomingRequest) => {
    if (path === '/good') await held.promise;
    else await takeBody();
    return answer(path);
  });
  for (const bytes of [`${get}hello\r\n${end}`, `${get}${chunked}zz\r\n`]) {
    const client = await openRaw(server.url);
    client.send(bytes);
    expect(await client.rest()).toBe('');
  }
  held.resolve();
});

test('headers that don’t arrive in time are refused too', async () => {
  const server = await listen({
    ...{ host: '127.0.0.1', port: 0, onError: () => {}, serve: async () => {} },
    refuse: ({ status, message }) => ({ statusCode: status, headers: {}, body: message }),
    limits: { headersTimeout: 50, connectionsCheckingInterval: 10 },
  });
  const client = await openRaw(server.url);
  client.send('GET / HTTP/1.1\r\n');
  expect(await client.rest()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*The request did not arrive in time/s);
  await server.drain();
});

test('a client that keeps sending has time to read the error', async () => {
  using timers = stopTimers();
  await using server = await serveApp(async () => answer('never'));
  const client = await openRaw(server.url);
  client.socket.allowHalfOpen = true;
  client.send(`GET /${'x'.repeat(100_000)}`);
  expect(await client.until(/>$/)).toMatch(/^HTTP\/1\.1 431 /);
  for (let piece = 0; piece < 50; piece++) {
    client.send('x');
    await turnEventLoop(2);
  }
  expect(client.socket.destroyed).toBe(false);
  timers.pass(1_000);
  await waitUntil(() => {
    client.send('x');
    return client.socket.closed;
  }, 'it is closed');
});

test('and stops reading if it sends very many tiny chunks', async () => {
  using timers = stopTimers();
  await using server = await serveApp(async () => answer('never'));
  const client = await openRaw(server.url);
  client.send(`POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n.\r\n'.repeat(1_000_000)}`);
  expect(await client.until(/>$/)).toMatch(/^HTTP\/1\.1 400 .*connection: close/is);
  await turnEventLoop(50);
  expect(client.socket.writableLength).toBeGreaterThan(0);
  timers.pass(1_000);
  await waitUntil(() => client.socket.closed, 'it is closed');
});
