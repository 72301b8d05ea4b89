import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, jest, test } from '@jest/globals';
import type { HttpServerOptions } from '../../../lambda/engines/http-server.ts';
import type { GatewayResponse, IncomingRequest } from '../../../lambda/request/incoming-request.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { testRows } from '../../support/test-rows.ts';
import { inTime, turnEventLoop, waitUntil } from '../../support/wait-until.ts';
import { end, mebibyte, openRaw, post, serveApp as serve } from './raw-client.ts';

const answer = (body: string | Readable = 'done'): GatewayResponse => ({
  statusCode: 200,
  headers: { 'x-a': 'b' },
  body,
});

test('an incoming request has the data of the HTTP request', async () => {
  const calls: IncomingRequest[] = [];
  const app = async (call: IncomingRequest) => {
    calls.push(call);
    return answer(Buffer.from(await call.takeBody()).toString());
  };
  await using server = await serve(app);
  const client = await openRaw(server.url);
  client.send(`${post(5, '/a%2fb/?q=1')}X-Twice: 1\r\nx-twice: 2\r\ncookie: a=b\r\n${end}hello`);
  expect(await client.until(/hello$/)).toMatch(/^HTTP\/1.1 200 OK\r\nx-a: b\r\n/);
  client.socket.destroy();
  const [call] = calls;
  expect(call).toMatchObject({ method: 'POST', path: '/a%2fb/', host: 'gateway.example', sourceAddress: '127.0.0.1' });
  expect(call?.headers).toEqual({ host: 'gateway.example', 'content-length': '5', 'x-twice': '1,2' });
  expect(call?.timeLeft()).toBeGreaterThan(800_000);
  // The handler held the only reference to the body.
  expect(await call?.takeBody()).toHaveLength(0);
});

const many = (count: number) => 'a:\r\n'.repeat(count);
testRows([
  ['x-forwarded-for: 9.9.9.9, 203.0.113.7', '203.0.113.7'],
  ['forwarded: for=1.1.1.1\r\nx-real-ip: 2.2.2.2\r\nx-forwarded-for:  2001:db8::1 ', '2001:db8::1'],
  [`x-forwarded-for: 9.9.9.9\r\n${many(900)}x-forwarded-for: 203.0.113.7`, '203.0.113.7'],
  [`x-forwarded-for: 9.9.9.9\r\n${many(997)}x-real-ip: 2.2.2.2`, ''], // the last line may be left out
  ['x-forwarded-for: 203.0.113.7,', ''],
])('behind a load balancer, the last value of x-forwarded-for is the caller', async (lines, address) => {
  const app = async ({ sourceAddress }: IncomingRequest) => answer(`<${sourceAddress}>`);
  await using server = await serve(app, { clientAddress: 'x-forwarded-for' });
  const client = await openRaw(server.url);
  client.send(`GET / HTTP/1.1\r\nhost: x\r\n${lines}\r\n${end}`);
  expect(await client.until(/<.*>$/)).toMatch(`<${address}>`);
  client.socket.destroy();
});

test('no response is sent before the request has been read to its end', async () => {
  const answered = Promise.withResolvers<void>();
  await using server = await serve(async () => {
    answered.resolve();
    return answer();
  });
  const client = await openRaw(server.url);
  client.send(`${post(10)}${end}12345`);
  await inTime(answered.promise, 'the app is called');
  await new Promise((resolve) => setImmediate(resolve));
  expect(client.socket.bytesRead).toBe(0);
  client.send('67890');
  expect(await client.until(/done$/)).not.toMatch(/connection: close/);
  // The connection stays usable.
  client.send(`GET / HTTP/1.1\r\nhost: x\r\n${end}`);
  await client.until(/done.*done$/s);
  client.socket.destroy();
});

test('an unknown expectation is ignored', async () => {
  await using server = await serve(async () => answer());
  const client = await openRaw(server.url);
  client.send(`GET / HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\n${end}`);
  expect(await client.until(/done$/)).toMatch(/^HTTP\/1.1 200 OK/);
  client.socket.destroy();
});

test('a refused request releases its memory at once, although its body is still arriving', async () => {
  let refused = 0;
  const app = async ({ path, memory }: IncomingRequest) => {
    memory.take(2 * mebibyte); // all that one network may have
    if (path === '/') return answer();
    refused += 1;
    return { ...answer(), statusCode: 400 };
  };
  await using server = await serve(app);
  const [slow, other] = [await openRaw(server.url), await openRaw(server.url)];
  slow.send(`${post(10, '/refused')}${end}12345`);
  await waitUntil(() => refused === 1, 'the first is refused');
  await turnEventLoop(3);
  other.send(`${post(0)}${end}`);
  expect(await other.until(/done$/)).toMatch(/^HTTP\/1.1 200 OK/);
  for (const { socket } of [slow, other]) socket.destroy();
});

const chunked = `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n${end}`;

testRows([`${post(1e9)}${end}`, `${chunked}200000\r\n`])(
  'a body that is too large is read up to the limit, answered, and then its connection closes',
  async (head) => {
    await using server = await serve(async ({ bodySize }) => answer(`${(await bodySize()) > mebibyte} is too large`));
    const client = await openRaw(server.url);
    using timers = stopTimers();
    client.send(head + 'x'.repeat(mebibyte + 1));
    expect(await client.until(/true is too large$/)).toMatch(/connection: close\r\n/i);
    client.send('x'.repeat(10_000));
    timers.pass(1_000);
    await client.rest();
  },
);

const length = async ({ takeBody, bodySize }: IncomingRequest) => answer(`<${await bodySize()} ${await takeBody()}>`);

test('a body up to the limit arrives whole, however it is split', async () => {
  await using server = await serve(length, { requestBodyLimit: 100 });
  for (const text of ['', 'a', 'abcdefghi'.repeat(11), 'abcdefghij'.repeat(10)]) {
    const drops = [...text].map((letter) => `1\r\n${letter}\r\n`).join('');
    for (const sent of [`${post(text.length)}${end}${text}`, `${chunked}${drops}0\r\n\r\n`]) {
      const client = await openRaw(server.url);
      client.send(sent);
      expect(await client.until(/<.*>$/)).toMatch(`<${text.length} ${text}>`);
      client.socket.destroy();
    }
  }
});

test('a client that never stops sending is disconnected, but only after it had time to read its response', async () => {
  using _timers = stopTimers(); // an early answer's connection closes after a while in any case
  await using server = await serve(length, { requestBodyLimit: 100 });
  const client = await openRaw(server.url);
  client.send(chunked);
  const pour = () => {
    while (!client.socket.destroyed && client.socket.write(`100000\r\n${'x'.repeat(mebibyte)}\r\n`));
  };
  client.socket.on('drain', pour);
  pour();
  await client.rest();
  // 64 MiB more are read, and what was on its way when the connection was cut was written.
  expect(client.socket.bytesWritten).toBeGreaterThan(64 * mebibyte);
  expect(client.socket.bytesWritten).toBeLessThan(90 * mebibyte);
});

test('a body of unknown length reserves no more than its size', async () => {
  const app = async ({ bodySize, memory }: IncomingRequest) => {
    memory.claim('a');
    await bodySize();
    memory.take(mebibyte - 600_001);
    return answer();
  };
  await using server = await serve(app, { bodyBudget: 4 * mebibyte });
  const body = Readable.toWeb(Readable.from(['x'.repeat(300_000), 'x'.repeat(300_001)]));
  const response = await fetch(server.url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  expect(await response.text()).toBe('done');
});

test('a disconnect is reported, before the body has arrived and during the response', async () => {
  const gone: string[] = [];
  const begun = new Set<string>();
  const app = async ({ path, bodySize, clientGone }: IncomingRequest) => {
    const left = once(clientGone as AbortSignal, 'abort');
    begun.add(path);
    if (path === '/body') await Promise.resolve(bodySize()).catch((error: Error) => gone.push(error.message));
    await left;
    gone.push(path);
    return answer();
  };
  await using server = await serve(app as HttpServerOptions['app']);
  for (const [path, length] of [
    ['/body', 10],
    ['/answer', 0],
  ] as const) {
    const client = await openRaw(server.url);
    client.send(`${post(length, path)}${end}`);
    await waitUntil(() => begun.has(path), `the app is called for ${path}`);
    client.socket.destroy();
    await waitUntil(() => gone.includes(path), `the app hears that the client of ${path} has left`);
  }
  expect(gone).toEqual(['The request body broke off before its end. Send all of it.', '/body', '/answer']);
  expect(server.faults).toEqual([]);
});

test('a response ends when it is sent, not when it is written, and holds its memory until then', async () => {
  const size = 32 * mebibyte; // more than the system's buffers hold
  const app = async ({ path, memory }: IncomingRequest) => {
    memory.claim('a');
    memory.take(size);
    return answer(path === '/long' ? 'x'.repeat(size) : 'short');
  };
  await using server = await serve(app, { bodyBudget: 4 * size });
  const client = await openRaw(server.url);
  client.socket.pause();
  client.send(`GET /long HTTP/1.1\r\nhost: x\r\n${end}`);
  const statusOf = async () => (await fetch(server.url)).status;
  while ((await statusOf()) === 200); // until the long one has its room
  for (let turn = 0; turn < 20; turn += 1) expect(await statusOf()).toBe(500);
  client.socket.resume();
  while ((await statusOf()) !== 200);
  client.socket.destroy();
});

test('a client that is still sending gets its early response, and may finish before the connection closes', async () => {
  using timers = stopTimers();
  await using server = await serve(async ({ bodySize }) => answer(`${await bodySize()}`));
  const client = await openRaw(server.url);
  const errors: Error[] = [];
  client.socket.on('error', (error) => errors.push(error));
  client.send(`${post(4 * mebibyte)}${end}${'x'.repeat(mebibyte + 1)}`);
  await client.until(/\r\n\r\n\d+$/);
  await turnEventLoop(20);
  expect(client.socket.readableEnded).toBe(false);
  client.send('x'.repeat(3 * mebibyte - 1));
  await client.rest();
  expect([errors, client.socket.writableLength]).toEqual([[], 0]);

  // One that does not end is waited for a second, and no longer.
  const slow = await openRaw(server.url);
  slow.send(`${post(4 * mebibyte)}${end}${'x'.repeat(mebibyte + 1)}`);
  await slow.until(/\r\n\r\n\d+$/);
  await turnEventLoop(20);
  timers.pass(999);
  await turnEventLoop(20);
  expect(slow.socket.readableEnded).toBe(false);
  timers.pass(1);
  await slow.rest();
});

test('an error thrown by the app is not shown in the response', async () => {
  const fault = new Error('planted');
  await using server = await serve(() => Promise.reject(fault));
  const response = await fetch(server.url);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: 'internal_error', type: 'server_error' } });
  expect(server.faults).toEqual([fault]);
});

test('a response that takes too long is disconnected, and its request knows how long it may take', async () => {
  let left = 0;
  const app = async ({ timeLeft, clientGone }: IncomingRequest) => {
    left = timeLeft();
    await once(clientGone as AbortSignal, 'abort');
    return answer();
  };
  await using server = await serve(app, { timeLimit: 50 });
  const client = await openRaw(server.url);
  client.send(`GET / HTTP/1.1\r\nhost: x\r\n${end}`);
  expect(await client.rest()).toBe('');
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(50);
});

test('shutdown refuses new connections, says so on open ones, and aborts what runs too long', async () => {
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const answered: (AbortSignal | undefined)[] = [];
  const app = async ({ path, health, shutdownSignal }: IncomingRequest) => {
    if (path === '/health') {
      answered.push(shutdownSignal);
      return answer(`<${health}>`);
    }
    begun.resolve();
    const [event] = await once(shutdownSignal as AbortSignal, 'abort');
    order.push('cut short');
    return answer(`<${event.target.reason.code}>`);
  };
  const server = await serve(app, { onLastMoment: () => order.push('last moment') });
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n${end}`;
  const [idle, busy] = [await openRaw(server.url), await openRaw(server.url)];
  idle.send(ask('/health'));
  await idle.until(/<serving>/);
  busy.send(ask('/busy'));
  await inTime(begun.promise, 'the app is called');
  const grace = Promise.withResolvers<void>();
  const stopped = server.stop(300).then(grace.resolve);
  idle.send(ask('/health'));
  expect(await idle.until(/<stopping>/)).toMatch(/connection: close/i);
  await expect(openRaw(server.url)).rejects.toThrow('ECONNREFUSED');
  expect(await busy.rest()).toMatch('<service_unavailable>');
  await inTime(stopped, 'the server has stopped');
  expect(order).toEqual(['cut short', 'last moment']);
  // What is over is not kept.
  expect(answered.map((signal) => signal?.aborted)).toEqual([false, false]);
});

test('the time for final errors counts from the end of the grace period, even if that was noticed late', async () => {
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const app = async () => {
    begun.resolve();
    await new Promise(() => {});
    return answer();
  };
  const server = await serve(app, { onLastMoment: () => order.push('last moment') });
  const client = await openRaw(server.url);
  client.send(`GET / HTTP/1.1\r\nhost: x\r\n${end}`);
  await begun.promise;
  jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    const stopped = server.stop(300);
    // The process was busy, and the time for final errors has passed as well.
    jest.advanceTimersByTime(300 + 500);
    await turnEventLoop(5);
    jest.advanceTimersByTime(1);
    await turnEventLoop(5);
    expect(order).toEqual(['last moment']);
    jest.advanceTimersByTime(100);
    await stopped;
  } finally {
    jest.useRealTimers();
  }
  await client.rest();
});

test('shutdown is immediate if nothing is running', async () => {
  const server = await serve(async () => answer());
  const client = await openRaw(server.url);
  await server.stop(600_000);
  await client.rest();
});

test('an unusable address or port prevents the start', async () => {
  await using first = await serve(async () => answer());
  await expect(serve(async () => answer(), { port: first.port })).rejects.toThrow(`PORT ${first.port} is taken`);
  await expect(serve(async () => answer(), { host: '203.0.113.9' })).rejects.toThrow(
    'HOST 203.0.113.9 is not an address',
  );
});
