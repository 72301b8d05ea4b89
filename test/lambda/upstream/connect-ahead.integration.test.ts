import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { createHttpClient } from '../../../lambda/upstream/http-client.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { trustCertificate } from '../../support/trusted-certificate.ts';
import { turnEventLoop, waitUntil } from '../../support/wait-until.ts';

/** A server that remembers its connections. */
async function listen(server: Server | ReturnType<typeof createTcpServer>, scheme = 'http') {
  const opened: Socket[] = [];
  server.on('connection', (socket: Socket) => opened.push(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    opened,
    /** The connections that are still writable. */
    talking: opened,
    url: `${scheme}://127.0.0.1:${port}/v1`,
    closed: () => opened.filter(({ destroyed }) => destroyed).length,
    [Symbol.asyncDispose]: async () => {
      for (const socket of opened) socket.destroy();
      server.close();
    },
  };
}

/** The same with TLS, and a certificate that is trusted for the duration of the test. */
async function listenSecurely() {
  const certificate = trustCertificate();
  const server = createHttpsServer(certificate, answer);
  const secured: Socket[] = [];
  server.on('secureConnection', (socket: Socket) => secured.push(socket.on('error', () => {})));
  const listening = await listen(server, 'https');
  return {
    ...listening,
    talking: secured,
    [Symbol.asyncDispose]: async () => {
      await listening[Symbol.asyncDispose]();
      certificate[Symbol.dispose]();
    },
  };
}

const answer = (request: IncomingMessage, response: ServerResponse) =>
  request.resume().on('end', () => response.end('fine'));
const fine = () => createHttpServer(answer);
const never = new AbortController().signal;

function openExchange(url: string, now = Date.now) {
  const { send, preconnect } = createHttpClient({ connectTimeout: 5_000, now });
  const ask = async (size = 1, releaseBody?: () => void) => {
    const pieces = ['x'.repeat(size)];
    return text((await send({ url, headers: { 'content-length': `${size}` }, pieces }, never, releaseBody)).body);
  };
  return { ask, preconnect: () => preconnect(url) };
}

testRows([1, 70_000])('a connection that was opened ahead carries the next request', async (size) => {
  await using server = await listen(fine());
  const { ask, preconnect } = openExchange(server.url);
  preconnect();
  preconnect();
  await waitUntil(() => server.opened.length === 1, 'it is open');
  expect([await ask(size, () => {}), server.opened.length]).toEqual(['fine', 1]);
});

test('a request need not wait for it to be ready; it is reused by later ones, and none is opened while it is idle', async () => {
  await using server = await listen(fine());
  const { ask, preconnect } = openExchange(server.url);
  for (const _ of [1, 2]) {
    preconnect();
    expect([await ask(), server.opened.length]).toEqual(['fine', 1]);
    await turnEventLoop(5);
  }
});

test('so does a TLS connection', async () => {
  await using server = await listenSecurely();
  const { ask, preconnect } = openExchange(server.url);
  preconnect();
  await waitUntil(() => server.talking.length === 1, 'it is open');
  expect([await ask(), server.opened.length]).toEqual(['fine', 1]);
});

const unasked = [
  'HTTP/1.1 408 Request Time-out\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged',
  'HTTP/1.1 200 OK\r\ncontent-',
];

testRows(
  unasked.flatMap((said) =>
    ['http', 'https'].flatMap((scheme) => ['opened ahead', 'kept'].map((state) => [said, scheme, state] as const)),
  ),
)('what an upstream says before its request is nobody’s answer', async (said, scheme, state) => {
  await using server = await (scheme === 'https' ? listenSecurely() : listen(fine()));
  const { ask, preconnect } = openExchange(server.url);
  if (state === 'kept') expect(await ask()).toBe('fine');
  else preconnect();
  await waitUntil(() => server.talking.length === 1, 'it is open');
  server.talking[0]?.write(said);
  await waitUntil(() => server.closed() === 1, 'it is closed');
  expect([await ask(), server.opened.length]).toEqual(['fine', 2]);
});

testRows([1, 70_000])('one that the upstream has closed meanwhile fails no request', async (size) => {
  await using server = await listen(fine());
  const { ask, preconnect } = openExchange(server.url);
  preconnect();
  await waitUntil(() => server.opened.length === 1, 'it is open');
  server.opened[0]?.destroy();
  if (size > 1) await turnEventLoop(20); // a large body can't be sent twice
  expect([await ask(size, () => {}), server.opened.length]).toEqual(['fine', 2]);
});

test('a connection that nobody uses for ten seconds is closed, and one of a frozen function is not used after that', async () => {
  await using server = await listen(fine());
  using timers = stopTimers();
  let time = 0;
  const { ask, preconnect } = openExchange(server.url, () => time);
  preconnect();
  await waitUntil(() => server.opened.length === 1, 'it is open');
  timers.pass(9_999);
  await turnEventLoop(5);
  expect(server.closed()).toBe(0);
  timers.pass(1);
  await turnEventLoop(20);

  preconnect();
  await waitUntil(() => server.opened.length === 2, 'the second is open');
  time = 10_001;
  expect(await ask()).toBe('fine');
  expect(server.opened.length).toBe(3);
});

test('a connection that can’t be opened, or not in time, is dropped silently', async () => {
  await using deaf = await listen(createTcpServer((socket) => socket.resume()));
  using timers = stopTimers();
  const { preconnect } = openExchange(deaf.url.replace('http:', 'https:'));
  preconnect();
  await waitUntil(() => deaf.opened.length === 1, 'it has connected, without TLS');
  timers.pass(5_000);
  await waitUntil(() => deaf.closed() === 1, 'it is closed');
  openExchange('http://127.0.0.1:1/v1').preconnect();
  await turnEventLoop(10);
});
