import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { hangUp, head, interim, raw, reset, type Script, silence, sse, write } from '../../local/upstream/script.ts';
import { startDeafUpstream } from '../support/deaf-upstream.ts';
import { refusingUrl } from '../support/fake-upstream.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { testRows } from '../support/test-rows.ts';
import { expectRefusal, startWatchedGateway } from '../support/watched-gateway.ts';

const lost = { status: 502, code: 'upstream_error', charged: 0 } as const;
const late = { status: 504, code: 'upstream_timeout', charged: 0 } as const;
const jsonHead = { 'content-type': 'application/json' };

/** Ways to lose a connection before an answer can be used, whether a stream was asked for or not. */
const losses: readonly (readonly [string, Script, string])[] = [
  ['reset before the head', [reset], 'unreachable'],
  ['closed before the head', [hangUp], 'unreachable'],
  ['reset within the head', [raw('HTTP/1.1 20'), reset], 'unreachable'],
  ['closed within the head', [raw('HTTP/1.1 200 OK\r\ncontent-type: appl'), hangUp], 'unreachable'],
  ['reset after an interim answer', [interim(103, { link: '<x>' }), reset], 'unreachable'],
  ['no HTTP', [raw('SSH-2.0-AcmeCorp\r\n\r\n'), hangUp], 'unreachable'],
  ['another protocol', [raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')], 'unreachable'],
  ['a head without end', [raw(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`), hangUp], 'unreachable'],
  ['reset after the head', [head(200, jsonHead), reset], 'unusable'],
  ['reset mid-body', [head(200, jsonHead), write('{"id":"chatcmpl'), reset], 'unusable'],
  ['closed mid-body', [head(200, jsonHead), write('{"id":"chatcmpl'), hangUp], 'unusable'],
  [
    'reset mid-gzip',
    [head(200, { 'content-encoding': 'gzip' }), write(gzipSync('{}').subarray(0, 15)), reset],
    'unusable',
  ],
  ['reset mid-event', [...sse('data: {"id":"x","choi'), reset], 'unusable'],
];

describe.each(dialectNames)('an upstream of %s', (dialect: DialectName) => {
  testRows([false, true])('loses connections', async (stream) => {
    await using watched = await startWatchedGateway();
    const { upstream } = watched.gateway;
    for (const [name, script, reason] of losses) {
      const before = upstream.requests.length;
      upstream.answer(script);
      const outcome = await watched.ask(dialect, { stream });
      expect([name, outcome.line.reason]).toEqual([name, reason]);
      expectRefusal(dialect, outcome, { ...lost, reason });
      expect([name, upstream.requests.length]).toEqual([name, before + 1]);
    }
  });

  testRows([false, true])('refuses connections', async (stream) => {
    await using watched = await startWatchedGateway({ environment: baseUrls(refusingUrl) });
    const outcome = await watched.ask(dialect, { stream });
    expectRefusal(dialect, outcome, { ...lost, reason: 'unreachable' });
    expect(outcome.line.causeCode).toBe('ECONNREFUSED');
  });
});

test('an upstream is silent before the head, or after it', async () => {
  await using watched = await startWatchedGateway({ environment: { REQUEST_TIMEOUT: '0.1' } });
  const { upstream } = watched.gateway;
  for (const script of [[silence], [head(200, jsonHead), silence], [head(200, jsonHead), write('{'), silence]]) {
    upstream.answer(script);
    expectRefusal('chat', await watched.ask('chat'), { ...late, reason: 'timeout' });
    expect(await upstream.requests.at(-1)?.closed).toBe('aborted');
  }
});

test('an upstream is silent before a stream’s first event', async () => {
  await using watched = await startWatchedGateway({ environment: { UPSTREAM_IDLE_TIMEOUT: '0.1' } });
  const { upstream } = watched.gateway;
  for (const script of [[silence], [head(200, jsonHead), silence], [...sse(''), silence]]) {
    upstream.answer(script);
    expectRefusal('chat', await watched.ask('chat', { stream: true }), { ...late, reason: 'timeout' });
    expect(await upstream.requests.at(-1)?.closed).toBe('aborted');
  }
});

test('a connection that is not accepted ends after UPSTREAM_CONNECT_TIMEOUT', async () => {
  await using deaf = await startDeafUpstream();
  const environment = { ...baseUrls(deaf.url), UPSTREAM_CONNECT_TIMEOUT: '0.1' };
  await using watched = await startWatchedGateway({ environment });
  for (const stream of [false, true]) {
    expectRefusal('chat', await watched.ask('chat', { stream }), { ...late, reason: 'connect_timeout' });
  }
});

test('and so does one that is accepted but never secured', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const environment = { ...baseUrls(`https://127.0.0.1:${port}/v1`), UPSTREAM_CONNECT_TIMEOUT: '0.1' };
  try {
    await using watched = await startWatchedGateway({ environment: { ...environment, REQUEST_TIMEOUT: '5' } });
    expectRefusal('chat', await watched.ask('chat'), { ...late, reason: 'connect_timeout' });
    expect(sockets).toHaveLength(1);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test('the function’s own deadline counts if it comes first', async () => {
  // 5 s of it are kept for the last words.
  await using watched = await startWatchedGateway({ functionTimeout: 5_100 });
  watched.gateway.upstream.otherwise([silence]);
  for (const stream of [false, true]) {
    expectRefusal('messages', await watched.ask('messages', { stream }), { ...late, reason: 'timeout' });
  }
});

function baseUrls(url: string): Record<string, string> {
  return { UPSTREAM_BASE_URL: url };
}
