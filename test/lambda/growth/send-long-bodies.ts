import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import { listenLocally } from '../../../local/listen-locally.ts';
import { type GatewayProcess, startGatewayProcess } from '../../local/gateway-process.ts';
import { buildServerOnce } from '../../support/build-server-once.ts';
import { startTestDynamoDb } from '../../support/dynamodb.ts';
import { identity } from '../../support/gateway.ts';

/** A count, a chat completion and a message, whichever is asked for. */
const answer = JSON.stringify({
  ...{ id: 'a', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
  ...{ choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }] },
  ...{ count: 1, input_tokens: 1, usage: { input_tokens: 1, output_tokens: 1 } },
});

/** An upstream that discards requests. */
async function startCounter() {
  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
  });
  const { url, close } = await listenLocally(server);
  return { url, [Symbol.asyncDispose]: close };
}

const size = 6_200_000;
const fill = (before: string, part: string, after: string) =>
  `${before}${`${part},`.repeat(Math.floor((size - before.length - after.length) / (part.length + 1)) - 1)}${part}${after}`;
const responses = '{"model":"svc","input":[';
const asked = '{"role":"user","content":"a"}';
const messages = `{"model":"svc","max_tokens":1,"messages":[${asked}`;
const inText = (body: string) => body.replace('"svc"', '"svc","user":"\u6f22"');

type Shape = readonly [path: string, body: string];

/** What is slow, or large in memory, once it is translated to chat; each in 15 KB of gzip. */
const forChat: readonly Shape[] = [
  ['/v1/responses/input_tokens', fill(`${responses}${asked}],"tools":[`, '{"type":"function","name":"f"}', ']}')],
  ['/v1/responses/input_tokens', fill(responses, '{"role":"user","content":"a"}', ']}')],
  ['/v1/responses', fill(responses, '{"role":"user","content":"a"}', ']}')],
  ['/v1/messages', fill(`${messages},`, '{"role":"assistant","content":"a"},{"role":"user","content":"a"}', ']}')],
  ['/v1/messages/count_tokens', fill(`${messages}],"tools":[`, '{"name":"f","input_schema":{"a":[]}}', ']}')],
  [
    '/v1/messages',
    fill(
      `${messages},{"role":"user","content":[`,
      '{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}',
      ']}]}',
    ),
  ],
  ['/v1/responses', inText(fill(responses, '{"role":"user","content":"a"}', ']}'))],
];
const forMessages: readonly Shape[] = [
  [
    '/v1/chat/completions',
    fill(`${messages},`, '{"role":"user","content":"a","cache_control":{"type":"ephemeral"}}', ']}'),
  ],
  ['/v1/chat/completions', fill(`${messages}],"tools":[`, '{"type":"function","function":{"name":"f"}}', ']}')],
  [
    '/v1/chat/completions',
    fill(`${messages},`, '{"role":"assistant","content":"a"},{"role":"user","content":"a"}', ']}'),
  ],
  ['/v1/responses/input_tokens', fill(responses, '{"role":"user","content":"a"}', ']}')],
  ['/v1/responses', fill(responses, '{"role":"user","content":[{"type":"input_text","text":"a"}]}', ']}')],
];

/** The status that somebody at this address gets; 0 if the connection ends without an answer. */
function post(url: string, from: string, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'x-api-key': 'x' };
    const outgoing = httpRequest(url, { method: 'POST', headers, localAddress: from, agent: false }, (answer) => {
      answer.resume().on('close', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 0));
    });
    outgoing.on('error', () => resolve(0)).end(body);
  });
}

/** The time that a process's main thread has had a processor, in milliseconds; none where the system does not say. */
function timeOnProcessor(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Asks a server whether it lives every 20 ms, until the work is over. Returns how long each answer took, in milliseconds, the shortest
 * first. Neighbours on the machine do not count.
 */
async function watchHealth({ url, pid }: GatewayProcess, work: Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  let isOver = false;
  work.finally(() => (isOver = true));
  while (!isOver) {
    const [begun, used] = [performance.now(), timeOnProcessor(pid)];
    const isAlive = await fetch(`${url}/healthz`).then(
      ({ status }) => status === 204,
      () => false,
    );
    const time = performance.now() - begun;
    const own = timeOnProcessor(pid) - used;
    taken.push(isAlive ? Math.min(time, Number.isNaN(own) ? time : own) : Number.POSITIVE_INFINITY);
    await setTimeout(20);
  }
  return taken.sort((a, b) => a - b);
}

/** Sends as many long bodies at once to a server with 512 MB, which must stay alive, and give each its turn. */
export async function sendLongBodies(dialect: 'chat' | 'messages', count: number): Promise<void> {
  await using started = new AsyncDisposableStack();
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  await using upstream = await startCounter();
  await using server = await startGatewayProcess(
    {
      ...identity,
      ...{ KEYS_TABLE: dynamoDb.keysTable, QUOTA_TABLE: dynamoDb.quotaTable, NETWORK_SALT: 'the salt of the tests' },
      ...{ AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
      ...{ AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint, APP_URL: 'https://app.example' },
      ...{ UPSTREAM_BASE_URL: `${upstream.url}/v1`, UPSTREAM_API_KEYS: 'k', UPSTREAM_DIALECTS: dialect },
      ...(dialect === 'chat' && { UPSTREAM_TOKENIZE_URL: `${upstream.url}/tokenize` }),
      ...(dialect === 'messages' && { UPSTREAM_OUTPUT_LIMIT: '100' }),
      ...{ GUEST_LIMIT: '1000', BURST_LIMIT: '1000', NODE_OPTIONS: '--max-old-space-size=512' },
    },
    join(await buildServerOnce(), 'index.js'),
  );
  const bodies = dialect === 'chat' ? forChat : forMessages;
  const zipped = bodies.map(([path, body]) => ({ path, bytes: gzipSync(body) }));
  const asking = Array.from({ length: count }, (_, at) => {
    const one = zipped[at % zipped.length];
    if (one === undefined) throw new TypeError('no bodies');
    return post(server.url + one.path, `127.0.0.${31 + (at % 4)}`, one.bytes);
  });
  const health = await watchHealth(server, Promise.all(asking));
  const statuses = await Promise.all(asking);
  const worst = health.at(Math.floor(0.99 * health.length)) ?? 0;
  console.log(`${statuses.join(' ')}; ${health.length} checks: ${worst.toFixed()} ms, ${health.at(-1)?.toFixed()} ms`);
  // 400: so many tools can't be translated. 429: a caller counts one long body at a time.
  expect(statuses.filter((status) => ![200, 400, 429, 503].includes(status))).toEqual([]);
  expect(statuses).toContain(200);
  expect(health).not.toContain(Number.POSITIVE_INFINITY);
  expect(worst).toBeLessThan(250);
}
