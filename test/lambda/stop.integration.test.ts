import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createStopSwitch } from '../../lambda/tables/stop-switch.ts';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { chargesIn } from '../support/quota.ts';
import { testRows } from '../support/test-rows.ts';

const question = { model: 'svc', messages: [{ role: 'user', content: 'hi' }] };
const answer = json(200, { id: 'x', model: 'm', choices: [] });

let gateway: TestGateway;
/** How often the marker of a stop was read, and whether reading it fails. */
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
  gateway.upstream.otherwise(answer);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ask = (key: string, path = '/v1/chat/completions', body: object = question) =>
  gateway.post(path, body, { 'x-api-key': key });
const stopSwitch = () => createStopSwitch(gateway.dynamoDb.callDynamoDb, gateway.dynamoDb.keysTable);

describe('a gateway that its operator stops', () => {
  test('refuses everything that costs, within a minute, charges nobody, and serves again as quickly', async () => {
    const key = await gateway.issueKey();
    expect((await ask(key)).status).toBe(200);
    await stopSwitch().stop({ at: 'noon', reason: 'the upstream changes its prices, back at 14:00 UTC.' });
    time += 60_000;
    const refused = await ask(key);
    expect(refused.status).toBe(503);
    expect(
      ['retry-after', 'x-should-retry', 'x-svc-error', 'x-svc-remaining'].map((name) => refused.headers.get(name)),
    ).toEqual(['60', 'false', 'service_unavailable', '49']);
    const message =
      'The operator has stopped this gateway: the upstream changes its prices, back at 14:00 UTC. Please try again later.';
    expect(await refused.json()).toEqual({ error: { message, type: 'server_error', code: 'service_unavailable' } });
    for (const path of ['/v1/messages', '/v1/messages/count_tokens', '/v1/responses']) {
      expect((await ask(key, path)).status).toBe(503);
    }
    expect((await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).status).toBe(200);
    expect([gateway.upstream.requests.length, await chargesIn(gateway)]).toEqual([1, 1]);

    expect(await stopSwitch().resume()).toMatchObject({ at: 'noon' });
    time += 60_000;
    expect((await ask(key)).status).toBe(200);
    expect(await stopSwitch().resume()).toBeUndefined();
  });

  test('is not a failure: its refusals ring no alarm, and are logged with their reason', async () => {
    await stopSwitch().stop({ at: 'noon' });
    time += 60_000;
    expect(((await (await ask('guest')).json()) as { error: object }).error).toMatchObject({
      message: 'The operator has stopped this gateway. Please try again later.',
    });
    expect(gateway.log).toMatchObject([{ level: 'info', message: 'refused', reason: 'stopped', Refusals: 1 }]);
    expect(gateway.log[0]).not.toHaveProperty('GatewayErrors');
  });

  testRows(['', 'reason'])('by hand, as the runbook says, with a reason beside the key or nothing', async (kept) => {
    const [, written = ''] = /put-item [^`]*?--item '([^']+)'/.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const { pk, ...rest } = JSON.parse(written);
    expect(rest).toEqual({ reason: { S: expect.any(String) } });
    const Item = { pk, ...(kept && rest) };
    await gateway.dynamoDb.callDynamoDb('PutItem', { TableName: gateway.dynamoDb.keysTable, Item });
    time += 60_000;
    const refused = await ask('guest');
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain(kept ? rest.reason.S : 'has stopped this gateway. Please');
    expect(await stopSwitch().resume()).toEqual({ at: '', ...(kept && { reason: rest.reason.S }) });
    time += 60_000;
    expect((await ask('guest')).status).toBe(200);
  });
});

test('it is looked up once a minute, whatever the requests; if it can’t be, the last known state holds', async () => {
  for (let request = 0; request < 3; request += 1) await ask('guest');
  expect(marker.reads).toBe(1);
  await stopSwitch().stop({ at: 'noon' });
  time += 60_000;
  marker.fails = true;
  const key = await gateway.issueKey();
  expect((await ask(key)).status).toBe(200);
  expect(gateway.log).toContainEqual(expect.objectContaining({ level: 'warn', message: 'stop not read' }));
  marker.fails = false;
  time += 60_000;
  expect((await ask(key)).status).toBe(503);
  expect(marker.reads).toBe(1 + 3 + 1);
});
