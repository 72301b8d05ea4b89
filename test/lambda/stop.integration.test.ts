import { readFileSync } from 'node:fs';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createStopSwitch } from '../../lambda/store/admin/stop-switch.ts';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';

let gateway: TestGateway;
/** How often the stop marker was read, and whether reading it fails. */
let marker: { reads: number; fails: boolean };
let time: number;

beforeEach(async () => {
  time = Date.UTC(2026, 5, 15, 12);
  marker = { reads: 0, fails: false };
  gateway = await startTestGateway({
    now: () => time,
    spoilStore({ name, body }) {
      if (name !== 'GetItem' || !body.includes('"stopped"')) return undefined;
      marker.reads += 1;
      return marker.fails ? 'failing' : undefined;
    },
  });
  gateway.upstream.otherwise(json(200, { id: 'x', model: 'm', choices: [] }));
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ask = (key: string, path = '/v1/chat/completions') =>
  gateway.post(path, { model: 'svc', messages: [{ role: 'user', content: 'hi' }] }, { 'x-api-key': key });
const stopSwitch = () => createStopSwitch(gateway.dynamoDb.documents, gateway.dynamoDb.keysTable);
const named = ({ headers }: Response, ...names: string[]) => names.map((name) => headers.get(name));

test('a stopped gateway refuses everything that costs within a minute, charges nobody, and resumes as quickly', async () => {
  const key = await gateway.issueKey();
  expect((await ask(key)).status).toBe(200);
  await stopSwitch().stop({ at: 'noon', reason: 'the upstream changes its prices, back at 14:00 UTC.' });
  time += 60_000;
  const refused = await ask(key);
  const headers = named(refused, 'retry-after', 'x-should-retry', 'x-svc-error', 'x-svc-remaining');
  expect([refused.status, ...headers]).toEqual([503, '60', 'false', 'service_unavailable', '49']);
  const message =
    'The operator has stopped this gateway: the upstream changes its prices, back at 14:00 UTC. Please try again later.';
  expect(await refused.json()).toEqual({ error: { message, type: 'server_error', code: 'service_unavailable' } });
  for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/v1/responses']) {
    expect((await ask(key, path)).status).toBe(503);
  }
  expect((await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).status).toBe(200);
  expect([gateway.upstream.requests.length, await chargesIn(gateway)]).toEqual([1, 1]);
  // It rings no alarm.
  const [, line] = gateway.log;
  expect(line).toMatchObject({ level: 'info', message: 'refused', reason: 'stopped', Refusals: 1 });
  expect(line).not.toHaveProperty('GatewayErrors');

  expect(await stopSwitch().resume()).toMatchObject({ at: 'noon' });
  time += 60_000;
  expect((await ask(key)).status).toBe(200);
  expect(await stopSwitch().resume()).toBeUndefined();
});

testRows(['', 'reason'])(
  'it is stopped by hand as the runbook says, with a reason beside the key or nothing',
  async (kept) => {
    const [, written = ''] = /put-item [^`]*?--item '([^']+)'/.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const { pk, ...rest } = JSON.parse(written);
    expect(rest).toEqual({ reason: { S: expect.any(String) } });
    const Item = { pk, ...(kept && rest) };
    const { client, keysTable: TableName } = gateway.dynamoDb;
    await client.send(new PutItemCommand({ TableName, Item }));
    time += 60_000;
    const refused = await ask('guest');
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain(kept ? rest.reason.S : 'has stopped this gateway. Please');
    expect(await stopSwitch().resume()).toEqual({ at: '', ...(kept && { reason: rest.reason.S }) });
    time += 60_000;
  },
);

test('checking costs one read a minute, however many requests there are', async () => {
  for (const [passed, reads] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
  ] as const) {
    time += passed;
    await Promise.all([ask('guest'), ask('guest')]);
    expect(marker.reads).toBe(reads);
  }
});

test.each([true, false])('if it can’t be read, the last known state stays (stopped: %s)', async (stopped) => {
  const key = await gateway.issueKey();
  if (stopped) await stopSwitch().stop({ at: 'noon' });
  time += 60_000;
  await ask(key);
  if (!stopped) await stopSwitch().stop({ at: 'noon' });
  marker.fails = true;
  time += 60_000;
  expect((await ask(key)).status).toBe(stopped ? 503 : 200);
  expect(gateway.log).toContainEqual(expect.objectContaining({ level: 'warn', message: 'stop not read' }));
});
