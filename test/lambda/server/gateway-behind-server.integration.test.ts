import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { head, json, silence, until, write } from '../../../local/upstream/script.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { createStreamReader } from '../../support/stream-reader.ts';
import { turnEventLoop } from '../../support/wait-until.ts';
import { startWatchedGateway, type WatchedGateway } from '../../support/watched-gateway.ts';
import { canary, wire } from '../../support/wire.ts';
import { openRaw } from '../engines/raw-client.ts';

const engine = 'web';
const mebibyte = 1_048_576;
const eventStream = head(200, { 'content-type': 'text/event-stream' });
const { path, question, events } = wire.chat;
const [first = ''] = events;
const key = { 'x-api-key': canary.clientKey };
const figuresOf = ({ headers }: Response) => [headers.get('x-svc-limit'), headers.get('x-svc-remaining')];

describe('/healthz', () => {
  test('says that the process serves: to anyone, whatever the state of the tables, and without a log line', async () => {
    await using gateway = await startTestGateway({
      ...{ engine, server: { clientAddress: 'x-forwarded-for' }, environment: { GUEST_LIMIT: '7' } },
      spoilStore: () => 'refusing',
    });
    const response = await fetch(`${gateway.url}/healthz`);
    expect(response.status).toBe(204);
    expect(figuresOf(response)).toEqual(['7', '0']);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    // Monitors ask so.
    const asked = await fetch(`${gateway.url}/healthz`, { method: 'HEAD' });
    expect([asked.status, asked.headers.get('content-length')]).toEqual([204, null]);
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const posted = await fetch(`${gateway.url}/healthz`, { method: 'POST', headers });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const unknown = await fetch(`${gateway.url}/v1/nothing`, { method: 'HEAD', headers });
    // It would be that of an empty body, which a GET does not have.
    expect([unknown.status, unknown.headers.get('content-length')]).toEqual([404, null]);
    expect(gateway.log.filter(({ route, status }) => route === '/healthz' && status === 204)).toEqual([]);
    expect(gateway.log.find(({ status }) => status === 405)?.coldStart).toBe(true);
  });

  test('says that the process stops, as every answer then does', async () => {
    await using gateway = await startTestGateway({ engine });
    gateway.upstream.otherwise([eventStream, write(first), silence]);
    const stream = createStreamReader(await gateway.post(path, { ...question, stream: true }, key));
    await stream.until(/data: /);
    const [health, models] = [await openRaw(gateway.url), await openRaw(gateway.url)];
    const stopped = gateway.stop(300);
    health.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    models.send('GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: x\r\n\r\n');
    for (const client of [health, models]) {
      const text = await client.rest();
      for (const part of [/^HTTP\/1.1 503 /, /retry-after: 1\r\n/, /X-Svc-Error: service_unavailable/]) {
        expect(text).toMatch(part);
      }
    }
    await stopped;
    await stream.rest();
  });
});

test('before it stops, only /healthz says so, for as long as it is told', async () => {
  await using gateway = await startTestGateway({ engine });
  const ask = async (path: string) => {
    const client = await openRaw(gateway.url);
    client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: x\r\nconnection: close\r\n\r\n`);
    return (await client.rest()).slice(9, 12);
  };
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
  try {
    const stopped = gateway.stop(0, 5_000);
    expect([await ask('/healthz'), await ask('/v1/models')]).toEqual(['503', '200']);
    jest.advanceTimersByTime(4_999);
    await turnEventLoop(5);
    expect(await ask('/v1/models')).toBe('200');
    jest.advanceTimersByTime(1);
    await turnEventLoop(5);
    await expect(openRaw(gateway.url)).rejects.toThrow('ECONNREFUSED');
    jest.useRealTimers();
    await stopped;
  } finally {
    jest.useRealTimers();
  }
});

test('a caller without an address is answered nothing', async () => {
  await using gateway = await startTestGateway({ engine, server: { clientAddress: 'x-forwarded-for' } });
  for (const line of ['x: y', 'x-forwarded-for: 203.0.113.7, unknown', 'x-forwarded-for: 1.2.3.4:5']) {
    const client = await openRaw(gateway.url);
    client.send(`GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: x\r\nconnection: close\r\n${line}\r\n\r\n`);
    expect(await client.rest()).toMatch(/^HTTP\/1.1 500 .*X-Svc-Error: internal_error/s);
    expect(gateway.log.at(-1)).toMatchObject({ reason: 'no_viewer_address', status: 500 });
  }
});

describe('memory that all requests share', () => {
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await startWatchedGateway({ engine, server: { bodyBudget: 4 * mebibyte } });
  });
  afterAll(() => watched[Symbol.asyncDispose]());

  const filled = (bytes: number) =>
    JSON.stringify({ ...question, messages: [{ role: 'user', content: 'x'.repeat(bytes) }] });

  test('is refused to a body that finds none when it is decoded, and to a whole answer', async () => {
    const { gateway, remaining } = watched;
    const before = await remaining();
    const headers = { ...key, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const body = gzipSync(filled(mebibyte));
    expect((await fetch(gateway.url + path, { method: 'POST', body, headers })).status).toBe(503);
    gateway.upstream.answer(json(200, { choices: [{ message: { content: 'x'.repeat(mebibyte) } }] }));
    const long = await gateway.post(path, question, key);
    expect([long.status, long.headers.get('retry-after')]).toEqual([503, '1']);
    // What the headers alone get refused is never kept.
    expect((await gateway.post(path, filled(2 * mebibyte))).status).toBe(401);
    expect(await remaining()).toBe(before);
  });

  test('is shared by all networks of an IPv6 /48; small bodies find room in any case', async () => {
    await using gateway = await startTestGateway({
      engine,
      server: { bodyBudget: 4 * mebibyte, clientAddress: 'x-forwarded-for' },
      environment: { GUEST_LIMIT: '1000', BURST_LIMIT: '1000' },
    });
    gateway.upstream.otherwise(json(200, wire.chat.answer));
    const slow = await openRaw(gateway.url);
    const from = 'x-forwarded-for: 2001:db8:1:1::1\r\nx-api-key: x';
    slow.send(
      `POST ${path} HTTP/1.1\r\nhost: x\r\n${from}\r\ncontent-length: ${mebibyte}\r\n\r\n${'x'.repeat(70_000)}`,
    );
    const statusFor = async (address: string, bytes: number) =>
      (await gateway.post(path, filled(bytes), { ...key, 'x-forwarded-for': address })).status;
    while ((await statusFor('2001:db8:1:2::1', 100_000)) !== 503); // until the slow one has its room
    expect(await statusFor('2001:db8:2:1::1', 100_000)).toBe(200);
    expect(await statusFor('2001:db8:1:3::1', 60_000)).toBe(200);
    slow.socket.destroy();
  });

  test('bodies that the upstream has wholly read leave their room to others while it thinks', async () => {
    const { gateway } = watched;
    const released = Promise.withResolvers<void>();
    gateway.upstream.otherwise([until(released.promise), ...json(200, wire.chat.answer)]);
    const before = gateway.upstream.requests.length;
    const answers: Promise<Response>[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      answers.push(gateway.post(path, filled(mebibyte - 1_000), key));
      await gateway.upstream.arrival(before + turn);
    }
    released.resolve();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  });
});
