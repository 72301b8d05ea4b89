import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import type { HttpServerOptions } from '../../../lambda/engines/http-server.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import type { IncomingRequest } from '../../../lambda/request/incoming-request.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { turnEventLoop, waitUntil } from '../../support/wait-until.ts';
import { end, mebibyte, openRaw, post, serveApp } from './raw-client.ts';

const small = 65_536;

/** A server whose app reads each body for the network in its path, says how that went, and holds those that it has. */
async function serve(options: Partial<HttpServerOptions> = {}) {
  const outcomes: string[] = [];
  const held: (() => void)[] = [];
  const app = async ({ path, bodySize, memory }: IncomingRequest) => {
    const [, network = '', limit] = path.split('/');
    memory.claim(network);
    try {
      const size = await bodySize(limit ? Number(limit) : undefined);
      outcomes.push(`${size}`);
      if (network !== 'passing') await new Promise<void>((resolve) => held.push(resolve));
      return { statusCode: 200, headers: {}, body: `<${size}>` };
    } catch (error) {
      const { status = 500, code = '' } = error instanceof GatewayError ? error : {};
      outcomes.push(code);
      return { statusCode: status, headers: {}, body: `<${code}>` };
    }
  };
  const server = await serveApp(app, {
    ...{ bodyBudget: 4 * mebibyte, onFault: (fault) => outcomes.push(`fault: ${fault}`) },
    ...options,
  });
  return Object.assign(server, { outcomes, held });
}

test('of more bodies than fit in memory, as many as fit are buffered', async () => {
  await using server = await serve();
  const clients = await Promise.all(Array.from({ length: 6 }, () => openRaw(server.url)));
  const size = mebibyte / 4;
  // All have begun, and go on at the same time.
  for (const client of clients) client.send(`${post(size, '/a')}${end}${'x'.repeat(small + 1)}`);
  await waitUntil(() => clients.every(({ socket }) => socket.writableLength === 0), 'all have begun');
  for (const client of clients) client.send('x'.repeat(size - small - 1));
  await waitUntil(() => server.outcomes.length === 6, 'all have arrived');
  const refused = server.outcomes.filter((outcome) => outcome === 'service_unavailable');
  expect([refused.length, server.held.length]).toEqual([2, 4]);
  for (const client of clients) client.socket.destroy();
});

describe('a body in chunks of one byte', () => {
  const head = `POST /passing HTTP/1.1\r\nhost: gateway.example\r\ntransfer-encoding: chunked\r\n${end}`;

  test('is accepted, if there are not very many', async () => {
    await using server = await serve();
    const client = await openRaw(server.url);
    client.send(`${head}${'1\r\n.\r\n'.repeat(10_000)}0\r\n\r\n`);
    expect(await client.until(/<\w+>/)).toMatch(/<10000>/);
    client.socket.destroy();
  });

  /** Sends so much and more, and gives the whole answer and how many bytes the server has read for it. */
  async function askFinely(url: string, sent: string, ending: RegExp) {
    using timers = stopTimers();
    const opened: Socket[] = [];
    const watch = (message: unknown) => void opened.push((message as { socket: Socket }).socket);
    subscribe('net.server.socket', watch);
    const client = await openRaw(url);
    client.send(sent);
    await client.until(ending);
    timers.pass(1_000);
    const text = await client.rest();
    unsubscribe('net.server.socket', watch);
    return { text, bytesRead: opened[0]?.bytesRead };
  }

  test('is refused as soon as there are too many, and no more of it is read', async () => {
    await using server = await serve();
    const { text, bytesRead } = await askFinely(server.url, `${head}${'1\r\n.\r\n'.repeat(1_000_000)}`, /<\w+>$/);
    expect(text).toMatch(/^HTTP\/1\.1 400 .*connection: close.*<invalid_request>$/is);
    expect(server.outcomes).toEqual(['invalid_request']);
    expect(bytesRead).toBeLessThan(4 * small);
  });

  test('is refused even if no single request has too many; earlier requests are answered', async () => {
    await using server = await serve();
    const sent = `${head}${'1\r\n.\r\n'.repeat(9_000)}0\r\n\r\n`.repeat(3);
    const { text } = await askFinely(server.url, sent, /<invalid_request>/);
    expect(text).toMatch(/^HTTP\/1\.1 200 .*<9000>HTTP\/1\.1 400 .*connection: close.*<invalid_request>$/is);
  });

  test('is not read any further even if nobody asks for it', async () => {
    const body = '<unread>';
    await using server = await serve({ app: async () => ({ statusCode: 401, headers: {}, body }) });
    const { text, bytesRead } = await askFinely(server.url, `${head}${'1\r\n.\r\n'.repeat(1_000_000)}`, /<unread>$/);
    expect(text).toMatch(/^HTTP\/1\.1 401 .*connection: close.*<unread>$/is);
    expect(bytesRead).toBeLessThan(4 * small);
  });

  test('is accepted if they are large on average', async () => {
    await using server = await serve();
    const client = await openRaw(server.url);
    const large = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    client.send(`${head}${large.repeat(10)}${'1\r\n.\r\n'.repeat(12_000)}0\r\n\r\n`);
    expect(await client.until(/<\w+>/)).toMatch(`<${0x8000 * 10 + 12_000}>`);
    client.socket.destroy();
  });
});

describe('a client that waits for 100 Continue', () => {
  const expecting = (length: number, path: string) => `${post(length, path)}expect: 100-continue\r\n${end}`;

  test('gets it if its body may be sent', async () => {
    await using server = await serve();
    const client = await openRaw(server.url);
    client.send(expecting(5, '/passing'));
    await client.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
    client.send('hello');
    expect(await client.until(/<5>/)).not.toMatch(/connection: close/i);
    client.socket.destroy();
  });

  testRows([
    ['the server', mebibyte + 1, '/passing'],
    ['the app', small + 1, `/passing/${small}`],
  ])('is refused at once if its body would be too large', async (_, length, path) => {
    await using server = await serve();
    const client = await openRaw(server.url);
    client.send(expecting(length, path));
    expect(await client.until(/<\d+>/)).toMatch(/^HTTP\/1.1 200 .*connection: close/is);
    expect(server.outcomes).toEqual([`${length}`]);
    client.socket.destroy();
  });
});

test('a content-length is trusted once more than a small body has arrived', async () => {
  await using server = await serve();
  const announcing = await openRaw(server.url);
  announcing.send(`${post(mebibyte, '/a')}${end}${'x'.repeat(small - 1)}`);
  const first = await openRaw(server.url);
  first.send(`${post(mebibyte, '/a')}${end}${'x'.repeat(mebibyte)}`);
  await waitUntil(() => server.outcomes.length === 1, 'another has arrived');
  expect(server.outcomes).toEqual([`${mebibyte}`]);
  // The network has no room left for what was announced.
  announcing.send('x'.repeat(mebibyte - small + 1));
  expect(await announcing.until(/<.*>/)).toMatch(/^HTTP\/1.1 503 /);
  for (const { socket } of [announcing, first]) socket.destroy();
});

describe('a body that arrives slowly', () => {
  const announced = `content-length: 100000`;
  testRows([
    ['is given up once a sixth of the time has passed', announced, 10_000, 10_000, 503],
    ['goes on as long as it keeps pace', announced, 60_000, 35_999, undefined],
    ['is given up when it falls behind', announced, 60_000, 37_000, 503],
    ['is given up at the timeout, if its size is unknown', 'transfer-encoding: chunked', 10_000, 60_000, 408],
  ])('goes on as long as it keeps pace', async (_, length, sent, passed, status) => {
    jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      await using server = await serve();
      const client = await openRaw(server.url);
      client.send(`POST /a HTTP/1.1\r\nhost: x\r\n${length}\r\n${end}`);
      const other = await openRaw(server.url);
      client.send(length === announced ? 'x'.repeat(sent) : `ffffff\r\n${'x'.repeat(sent)}`);
      other.send(`GET /passing HTTP/1.1\r\nhost: x\r\n${end}`);
      await other.until(/<0>/);
      const arrived = () => client.socket.writableLength === 0;
      await waitUntil(arrived, 'all of it was sent');
      await turnEventLoop(20);
      jest.advanceTimersByTime(passed);
      await turnEventLoop(20);
      if (status === undefined) {
        client.send('x'.repeat(100_000 - sent));
        await waitUntil(() => server.outcomes.includes('100000'), 'it has arrived');
      } else expect(await client.until(/<.*>/)).toMatch(new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'));
      for (const { socket } of [client, other]) socket.destroy();
      for (const release of server.held) release();
    } finally {
      jest.useRealTimers();
    }
  });
});
