import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { json, until } from '../../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { stopTimers } from '../../support/stop-timers.ts';
import { turnEventLoop, waitUntil } from '../../support/wait-until.ts';

const path = '/v1/messages/count_tokens';
const asking = (letters: number) =>
  JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'x'.repeat(letters) }] });
const [long, short] = [asking(70_000), asking(60_000)];
const answer = json(200, { input_tokens: 1 });

let gateway: TestGateway;
let released: PromiseWithResolvers<void>;
let keys: readonly string[];
beforeEach(async () => {
  released = Promise.withResolvers();
  gateway = await startTestGateway({ engine: 'web', environment: { BURST_LIMIT: '1000' } });
  keys = await Promise.all(['one', 'other'].map((member) => gateway.issueKey({ member })));
});
afterEach(async () => {
  released.resolve();
  await gateway[Symbol.asyncDispose]();
});

const count = (key: string | undefined, body: string, headers: Record<string, string> = {}) =>
  gateway.post(path, body, { 'x-api-key': key ?? '', ...headers });

/** Begins a count that the upstream does not answer until the test releases it. */
async function hold(key: string | undefined) {
  gateway.upstream.answer([until(released.promise), ...answer]);
  gateway.upstream.otherwise(answer);
  const status = count(key, long).then((response) => response.status);
  await gateway.upstream.arrival(0);
  return { status };
}

test('a member’s second count of a long body waits until the first is answered', async () => {
  const [key] = keys;
  const first = await hold(key);
  const second = count(key, long);
  await turnEventLoop(500);
  expect(gateway.upstream.requests).toHaveLength(1);
  released.resolve();
  expect([await first.status, (await second).status]).toEqual([200, 200]);
});

test('others’ counts, its own short ones and its requests pass at once', async () => {
  const [key, other] = keys;
  const first = await hold(key);
  for (const one of [count(other, long), count('x', long), count(key, short)]) expect((await one).status).toBe(200);
  const asked = await gateway.post('/v1/messages', long.replace('{', '{"max_tokens":1,'), { 'x-api-key': key ?? '' });
  expect(asked.status).not.toBe(429);
  released.resolve();
  await first.status;
});

test('what waits for two seconds is refused, with when to come again, and not charged', async () => {
  const [key] = keys;
  const first = await hold(key);
  let second: Promise<Response>;
  {
    using timers = stopTimers();
    second = count(key, long);
    await turnEventLoop(500);
    timers.pass(1_999);
    await turnEventLoop(500);
    expect(gateway.log).toEqual([]);
    timers.pass(1);
    await waitUntil(() => gateway.log.length > 0, 'the line of the request');
  }
  const refused = await second;
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
  expect(gateway.log).toMatchObject([{ code: 'rate_limited', reason: 'counting' }]);
  released.resolve();
  expect(await first.status).toBe(200);
  const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': key ?? '' } });
  expect(await usage.json()).toMatchObject({ requests: { used: 0 } });
});

test('a body counts as long by what it is decoded', async () => {
  const [key = ''] = keys;
  const first = await hold(key);
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const zipped = (body: string) => fetch(gateway.url + path, { method: 'POST', body: gzipSync(body), headers });
  const second = zipped(long);
  expect((await zipped(short)).status).toBe(200);
  await turnEventLoop(500);
  expect(gateway.upstream.requests).toHaveLength(2);
  released.resolve();
  expect([await first.status, (await second).status]).toEqual([200, 200]);
});

test('a turn ends with a count that fails, one that is refused, and one whose client leaves before or during it', async () => {
  const [key = ''] = keys;
  gateway.upstream.answer(json(400, { error: { message: 'no' } }));
  expect((await count(key, long)).status).toBe(400);
  expect((await count(key, long.replace('svc', 'unknown'))).status).toBe(400);

  gateway.upstream.answer([until(released.promise), ...answer]);
  const send = () => {
    const outgoing = httpRequest(gateway.url + path, { method: 'POST', agent: false, headers: { 'x-api-key': key } });
    outgoing.on('error', () => {}).end(long);
    return outgoing;
  };
  const during = send();
  await gateway.upstream.arrival(1);
  const before = send();
  await turnEventLoop(500);
  before.destroy();
  await waitUntil(() => gateway.log.some(({ reason }) => reason === 'counting'), 'the line of who left before');
  during.destroy();
  gateway.upstream.otherwise(answer);
  expect((await count(key, long)).status).toBe(200);
  expect(gateway.upstream.requests).toHaveLength(3);
});

test('a process that stops lets no count wait', async () => {
  const [key] = keys;
  const first = await hold(key);
  const second = count(key, long);
  await turnEventLoop(500);
  await gateway.stop(0);
  expect([await first.status, (await second).status]).toEqual([503, 503]);
});
