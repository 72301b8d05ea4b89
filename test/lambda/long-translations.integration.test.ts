import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DoInThread } from '../../lambda/jobs/jobs.ts';
import { createThreads, queueJobs } from '../../lambda/jobs/threads.ts';
import { fromFault } from '../../lambda/upstream/fault.ts';
import { json, sse } from '../../local/upstream/script.ts';
import { readEvents } from '../support/client-view.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PRICES } from '../support/prices.ts';
import { chargesIn } from '../support/quota.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { testRows } from '../support/test-rows.ts';
import { turnEventLoop, waitUntil } from '../support/wait-until.ts';

const mebibyte = 1_048_576;
const environment = { UPSTREAM_DIALECTS: 'chat', GUEST_LIMIT: '1000', BURST_LIMIT: '1000', PRICES };
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const ending = { index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' };
const answer = json(200, { id: 'c', choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } });

const asking = (letters: number, more: object = {}) =>
  JSON.stringify({ model: 'svc', max_tokens: 1, messages: [{ role: 'user', content: 'x'.repeat(letters) }], ...more });
/** More values than are processed inline. */
const crowded = (parts: number, more: object = {}) => {
  const content = Array.from({ length: parts }, () => ({ type: 'text', text: 'x' }));
  return JSON.stringify({ model: 'svc', max_tokens: 1, messages: [{ role: 'user', content }], ...more });
};
const long = crowded(5_000);
const short = asking(70_000);

/** Occupies other jobs until the test releases it. */
let held: PromiseWithResolvers<void>;
/** How many translations have had to wait. */
let waiting: number;
beforeEach(() => {
  waiting = 0;
  held = Promise.withResolvers();
});
afterEach(() => held.resolve());

const threads = {
  entry: new URL('../../lambda/worker.ts', import.meta.url),
  facts: { serviceName: 'svc', offersEmbeddings: false },
  fromFault,
};
const run = createThreads({ ...threads, heap: 128 });

/** Runs two jobs of another caller, so that a translation has to wait. */
const untilItWaits = () => waitUntil(() => waiting > 0, 'a translation waits');

const start = (server: { readonly bodyBudget?: number } = {}, more: Readonly<Record<string, string>> = {}) => {
  const inTurn = queueJobs((order) => (order.name === 'held' ? held.promise : run(order)));
  for (const name of ['held', 'held']) {
    const order = { name, text: '', isLenient: false, input: undefined };
    inTurn(order, 0, { caller: 'another' }).catch(() => {});
  }
  const doInThread: DoInThread = (order, memory, asker) => {
    if (order.name !== 'translate') return run(order);
    waiting += 1;
    return inTurn(order, memory, asker);
  };
  return startTestGateway({ engine: 'web', server, environment: { ...environment, ...more }, doInThread });
};

/** Sends a request. Resolves once its body has arrived, shortly before it queues. */
function send(gateway: TestGateway, body: string, key = 'x') {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const outgoing = httpRequest(`${gateway.url}/v1/messages`, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.end(body);
  return outgoing;
}

const lineOfLeaver = ({ log }: TestGateway) =>
  waitUntil(() => log.find(({ end }) => end === 'client_gone'), 'the line of who has left');

test('a body with many values is queued; one with few is not, however long it is', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const answering = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
  await untilItWaits();
  expect((await gateway.post('/v1/messages', short, { 'x-api-key': 'x' })).status).toBe(200);
  expect((await gateway.post('/v1/chat/completions', short, { 'x-api-key': 'x' })).status).toBe(200);
  expect(gateway.upstream.requests).toHaveLength(2);
  held.resolve();
  expect((await answering).status).toBe(200);
});

test('a request that waits for ten seconds is refused with a retry-after, and not charged', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  let answering: Promise<Response>;
  {
    using timers = stopTimers();
    answering = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
    await untilItWaits();
    timers.pass(9_999);
    await turnEventLoop(100);
    expect(gateway.log).toEqual([]);
    timers.pass(1);
    await waitUntil(() => gateway.log.length > 0, 'the line of the request');
  }
  const refused = await answering;
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({
    error: { type: 'overloaded_error', message: expect.stringContaining('was not charged') },
  });
  expect(gateway.log).toMatchObject([{ reason: 'long_jobs', refunded: true }]);
  expect(await chargesIn(gateway)).toBe(0);
});

describe('a client that disconnects while it waits', () => {
  testRows([
    ['a guest', undefined, false],
    ['a guest who asked for a stream', undefined, true],
    ['a caller with a budget, whose answers are read to their end', 1_000_000, false],
    ['such a caller who asked for a stream', 1_000_000, true],
  ])('leaves the queue, and nothing is sent upstream', async (_, budget, stream) => {
    held = Promise.withResolvers();
    waiting = 0;
    await using gateway = await start();
    gateway.upstream.otherwise(answer);
    const key = budget === undefined ? 'x' : await gateway.issueKey({ budget, budgetWindow: 'month' });
    const leaving = send(gateway, crowded(5_000, { stream }), key);
    await untilItWaits();
    leaving.destroy();
    await lineOfLeaver(gateway);
    held.resolve();
    await turnEventLoop(100);
    expect(gateway.upstream.requests).toEqual([]);
    if (budget !== undefined) expect(gateway.log).toMatchObject([{ cost: 0 }]);
  });

  test('releases its memory', async () => {
    await using gateway = await start({ bodyBudget: 4 * mebibyte });
    gateway.upstream.otherwise(answer);
    // One network may use a quarter of the budget.
    const large = crowded(Math.floor((0.9 * mebibyte) / 26));
    const leaving = send(gateway, large);
    await untilItWaits();
    expect((await gateway.post('/v1/messages', large, { 'x-api-key': 'x' })).status).toBe(503);
    leaving.destroy();
    await lineOfLeaver(gateway);
    held.resolve();
    expect((await gateway.post('/v1/chat/completions', large, { 'x-api-key': 'x' })).status).toBe(200);
  });
});

test('a response repeats its request, even one that a worker thread has parsed', async () => {
  held.resolve();
  await using gateway = await start();
  const tools = Array.from({ length: 5_000 }, (_, at) => ({ type: 'function', name: `f${at}`, description: 'é' }));
  const asked = { model: 'svc', input: 'Hello', instructions: 'Be brief', tools };
  gateway.upstream.answer(answer);
  const whole = await gateway.post('/v1/responses', asked, { 'x-api-key': 'x' });
  expect(await whole.json()).toMatchObject({ instructions: 'Be brief', tools });
  gateway.upstream.answer(sse(`data: ${JSON.stringify({ choices: [ending] })}\n\ndata: [DONE]\n\n`));
  const streamed = await gateway.post('/v1/responses', { ...asked, stream: true }, { 'x-api-key': 'x' });
  const last = readEvents(await streamed.text()).at(-1);
  expect(last?.value).toMatchObject({ type: 'response.completed', response: { instructions: 'Be brief', tools } });
  expect(waiting).toBe(2);
});

test('an answer with so many values that its thread is terminated stays charged: its caller may have asked for them', async () => {
  const starve = createThreads({ ...threads, heap: 16 });
  const doInThread: DoInThread = (order) => (order.name === 'rewriteWhole' ? starve(order) : run(order));
  await using gateway = await startTestGateway({ engine: 'web', environment, doInThread });
  const content = Array.from({ length: 300_000 }, () => ({ token: 'a', logprob: -1 }));
  gateway.upstream.answer(json(200, { id: 'c', choices: [{ ...choice, logprobs: { content } }] }));
  const refused = await gateway.post('/v1/chat/completions', asking(1, { logprobs: true }), { 'x-api-key': 'x' });
  expect(refused.status).toBe(502);
  expect(await refused.text()).toContain('This request was charged.');
  expect(gateway.log).toMatchObject([{ reason: 'unusable', cause: 'ThreadEnded', refunded: false }]);
  expect(await chargesIn(gateway)).toBe(1);
});

test('a shutdown empties the queue', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const answering = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
  await untilItWaits();
  await gateway.stop(0);
  expect((await answering).status).toBe(503);
  expect(gateway.log).toMatchObject([{ reason: 'stopping', refunded: true }]);
  expect(gateway.upstream.requests).toEqual([]);
});

test('a body that is refused while it is parsed frees its place in the queue', async () => {
  held.resolve();
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const wrong = crowded(5_000, { tools: 1 });
  expect((await gateway.post('/v1/messages', wrong, { 'x-api-key': 'x' })).status).toBe(400);
  expect((await gateway.post('/v1/messages', long, { 'x-api-key': 'x' })).status).toBe(200);
});
