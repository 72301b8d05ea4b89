import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startDynamoDb } from '../../local/dynamodb.ts';
import { hangUp, head, type Script, silence, until, write } from '../../local/upstream/script.ts';
import { createClient } from '../model/client.ts';
import { networkOf } from '../model/rules.ts';
import { createTestClient } from '../support/dynamodb.ts';
import { startFakeUpstream } from '../support/fake-upstream.ts';
import { identity } from '../support/gateway.ts';
import { inTime } from '../support/wait-until.ts';
import { wire } from '../support/wire.ts';
import { startGatewayProcess } from './gateway-process.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const { path, question, events } = wire.chat;
const [first = '', ...rest] = events;
const eventStream = head(200, { 'content-type': 'text/event-stream' });

/** How many requests the guests of these addresses are charged, in the tables that a gateway has left behind. */
async function readStanding(addresses: readonly string[]): Promise<number[]> {
  const store = await startDynamoDb({ dataDir });
  const client = createTestClient(store.endpoint);
  const counts: number[] = [];
  for (const address of addresses) {
    const Key = { pk: { S: `guest#${networkOf(address)}` } };
    const { Item } = await client.send(new GetItemCommand({ TableName: 'gateway-quota', Key, ConsistentRead: true }));
    counts.push(Number(Item?.ulifetime?.N));
  }
  client.destroy();
  await store.close();
  return counts;
}

/** Streams that are open when the process is stopped, each of which ends differently. */
async function startStreams() {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  const released = Promise.withResolvers<void>();
  const begun = [eventStream, write(first)];
  const scripts: Readonly<Record<string, Script>> = {
    '127.0.0.11': [...begun, until(released.promise), write(rest.join(''))],
    '127.0.0.12': [...begun, until(released.promise), hangUp],
    '127.0.0.13': [...begun, silence],
    '127.0.0.14': [...begun, silence],
  };
  upstream.otherwise(({ body }) => scripts[/"user":"([\d.]+)"/.exec(body.toString())?.[1] ?? ''] ?? []);
  const gateway = started.use(
    await startGatewayProcess({
      ...identity,
      DATA_DIR: dataDir,
      NETWORK_SALT: 'the salt of the tests',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'upstream-key-one',
    }),
  );
  const client = createClient(gateway.url);
  started.defer(async () => client.close());
  const leaving: (() => void)[] = [];
  const beginnings: Promise<void>[] = [];
  const answers = Object.keys(scripts).map((from) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    beginnings.push(promise);
    const body = JSON.stringify({ ...question, stream: true, user: from });
    const sent = client.send({ method: 'POST', path, headers: { 'x-api-key': 'x' }, body, from }, (leave, onText) => {
      if (from === '127.0.0.13') leaving.push(leave);
      onText(/data: /, resolve);
    });
    return sent.catch(() => undefined);
  });
  await inTime(Promise.all(beginnings), 'every stream has begun');
  const running = started.move();
  return {
    gateway,
    addresses: Object.keys(scripts),
    answers,
    /** Completes one stream, breaks one, and disconnects one client. The fourth stays open. */
    goOn() {
      released.resolve();
      for (const leave of leaving) leave();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

test('a stop settles each running stream: complete, broken, left by its client, or cut after the grace', async () => {
  await using streams = await startStreams();
  const { gateway, addresses, answers } = streams;
  gateway.signal('SIGTERM');
  await gateway.says(/SIGTERM: stopping/);
  streams.goOn();
  expect((await answers[0])?.text).toMatch(/\[DONE\]\n\n$/);
  expect((await answers[1])?.text).toMatch('not charged');
  expect(await gateway.ended).toBe(0);
  expect(gateway.errors()).toBe('');
  expect(await readStanding(addresses)).toEqual([1, 0, 1, 1]);
});

test('a kill leaves the charges of running streams standing', async () => {
  await using streams = await startStreams();
  const { gateway, addresses } = streams;
  gateway.signal('SIGKILL');
  expect(await gateway.ended).toBe('SIGKILL');
  expect(await readStanding(addresses)).toEqual([1, 1, 1, 1]);
});
