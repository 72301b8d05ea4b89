import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { listenLocally } from '../../../local/listen-locally.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { wire } from '../../support/wire.ts';

const { path, question, events } = wire.chat;
const size = 4_000_000;

/** An upstream that discards requests, begins each answer at once, and ends none. */
async function startForgetfulUpstream() {
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.once('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events[0]));
  });
  const { url, close } = await listenLocally(server);
  return { url: `${url}/v1`, [Symbol.asyncDispose]: close };
}

/** Opens a stream with a long prompt; this end keeps nothing of that either. */
async function openStream(url: string, encoding: string): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'x', 'content-encoding': encoding };
  const outgoing = request(url + path, { method: 'POST', headers, agent: false });
  const body = JSON.stringify({
    ...question,
    messages: [{ role: 'user', content: randomBytes(size * 0.75).toString('base64') }],
    stream: true,
  });
  outgoing.end(encoding === 'gzip' ? gzipSync(body) : body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  await once(answer, 'data');
  return answer;
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function readMemory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Buffers are given back a moment after they were found to be garbage. */
async function readSettledMemory(): Promise<number> {
  let last = readMemory();
  for (let unchanged = 0; unchanged < 3; ) {
    await setImmediate();
    const memory = readMemory();
    unchanged = memory < last - 100_000 ? 0 : unchanged + 1;
    last = memory;
  }
  return last;
}

test.each([
  ['as it came', 'identity', {}],
  ['compressed', 'gzip', {}],
  ['with several keys, by its opening words', 'identity', { UPSTREAM_API_KEYS: 'upstream-key-one,upstream-key-two' }],
])('the text of a request is gone from memory while its answer flows: %s', async (_, encoding, settings) => {
  await using upstream = await startForgetfulUpstream();
  await using gateway = await startTestGateway({
    engine: 'web',
    environment: { GUEST_LIMIT: '100', UPSTREAM_BASE_URL: upstream.url, ...settings },
  });
  const streams = [await openStream(gateway.url, encoding)];
  const before = await readSettledMemory();
  while (streams.length < 6) streams.push(await openStream(gateway.url, encoding));
  const grown = (await readSettledMemory()) - before;
  for (const stream of streams) stream.destroy();
  // Five streams are open; not even one body is there.
  expect(grown).toBeLessThan(size / 2);
});
