import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { translations } from '../../lambda/upstream/prepare.ts';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PRICES } from '../support/prices.ts';
import { chargesIn } from '../support/quota.ts';
import { stopTimers } from '../support/stop-timers.ts';
import { turnEventLoop, waitUntil } from '../support/wait-until.ts';

const mebibyte = 1_048_576;
const environment = { UPSTREAM_DIALECTS: 'chat', GUEST_LIMIT: '1000', BURST_LIMIT: '1000', PRICES };
const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const answer = json(200, { id: 'c', choices: [choice], usage: { prompt_tokens: 1, completion_tokens: 1 } });

const asking = (letters: number, more: object = {}) =>
  JSON.stringify({ model: 'svc', max_tokens: 1, messages: [{ role: 'user', content: 'x'.repeat(letters) }], ...more });
const long = asking(70_000);
const short = asking(60_000);

/** One translation that is being done, until the test ends it. */
let held: PromiseWithResolvers<void>;
beforeEach(async () => {
  held = Promise.withResolvers();
  const begun = Promise.withResolvers<void>();
  translations
    .run({ caller: 'another' }, () => {
      begun.resolve();
      return held.promise;
    })
    .catch(() => {});
  await begun.promise;
});
afterEach(() => held.resolve());

const start = (server: { readonly bodyBudget?: number } = {}, more: Readonly<Record<string, string>> = {}) =>
  startTestGateway({ engine: 'web', server, environment: { ...environment, ...more } });

/** Sends a request whose body has arrived when this resolves, and which waits for its turn soon after. */
function send(gateway: TestGateway, body: string, key = 'x') {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const outgoing = httpRequest(`${gateway.url}/v1/messages`, { method: 'POST', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.end(body);
  return outgoing;
}

/** So long that whatever would be done without a turn is done. */
const untilItWaits = () => turnEventLoop(500);

const lineOfLeaver = ({ log }: TestGateway) =>
  waitUntil(() => log.find(({ end }) => end === 'client_gone'), 'the line of who has left');

test('a long body waits for its turn; a short one does not, nor does one that is passed on as it is', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const waiting = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
  await untilItWaits();
  expect((await gateway.post('/v1/messages', short, { 'x-api-key': 'x' })).status).toBe(200);
  expect((await gateway.post('/v1/chat/completions', long, { 'x-api-key': 'x' })).status).toBe(200);
  expect(gateway.upstream.requests).toHaveLength(2);
  held.resolve();
  expect((await waiting).status).toBe(200);
});

test('what waits for ten seconds is refused, with when to come again, and not charged', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  let waiting: Promise<Response>;
  {
    using timers = stopTimers();
    waiting = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
    await untilItWaits();
    timers.pass(9_999);
    await untilItWaits();
    expect(gateway.log).toEqual([]);
    timers.pass(1);
    await waitUntil(() => gateway.log.length > 0, 'the line of the request');
  }
  const refused = await waiting;
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({
    error: { type: 'overloaded_error', message: expect.stringContaining('was not charged') },
  });
  expect(gateway.log).toMatchObject([{ reason: 'translations', refunded: true }]);
  expect(await chargesIn(gateway)).toBe(0);
});

describe('who leaves while it waits', () => {
  test.each([
    ['a guest', undefined, false],
    ['a guest who asked for a stream', undefined, true],
    ['a caller with a budget, whose answers are read to their end', 1_000_000, false],
    ['such a caller who asked for a stream', 1_000_000, true],
  ])('leaves the queue, and goes upstream for nothing: %s', async (_, budget, stream) => {
    await using gateway = await start();
    gateway.upstream.otherwise(answer);
    const key = budget === undefined ? 'x' : await gateway.issueKey({ budget, budgetWindow: 'month' });
    const leaving = send(gateway, asking(70_000, { stream }), key);
    await untilItWaits();
    leaving.destroy();
    await lineOfLeaver(gateway);
    held.resolve();
    await untilItWaits();
    expect(gateway.upstream.requests).toEqual([]);
    if (budget !== undefined) expect(gateway.log).toMatchObject([{ cost: 0 }]);
  });

  test('gives its memory back', async () => {
    await using gateway = await start({ bodyBudget: 4 * mebibyte });
    gateway.upstream.otherwise(answer);
    // A quarter of all is one network's.
    const large = asking(0.9 * mebibyte);
    const leaving = send(gateway, large);
    await untilItWaits();
    expect((await gateway.post('/v1/messages', large, { 'x-api-key': 'x' })).status).toBe(503);
    leaving.destroy();
    await lineOfLeaver(gateway);
    held.resolve();
    expect((await gateway.post('/v1/chat/completions', large, { 'x-api-key': 'x' })).status).toBe(200);
  });
});

test('a process that stops lets nobody wait', async () => {
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const waiting = gateway.post('/v1/messages', long, { 'x-api-key': 'x' });
  await untilItWaits();
  await gateway.stop(0);
  expect((await waiting).status).toBe(503);
  expect(gateway.log).toMatchObject([{ reason: 'stopping', refunded: true }]);
  expect(gateway.upstream.requests).toEqual([]);
});

test('a body that is refused while it is read ends its turn', async () => {
  held.resolve();
  await using gateway = await start();
  gateway.upstream.otherwise(answer);
  const wrong = asking(70_000, { tools: 1 });
  expect((await gateway.post('/v1/messages', wrong, { 'x-api-key': 'x' })).status).toBe(400);
  expect((await gateway.post('/v1/messages', long, { 'x-api-key': 'x' })).status).toBe(200);
});
