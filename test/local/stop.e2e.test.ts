import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqliteStore } from '../../lambda/store/sqlite/store.ts';
import { gatewayFileDirectory } from '../../local/gateway-file.ts';
import { hangUp, head, type Script, silence, until, write } from '../../local/upstream/script.ts';
import { createClient, networkOf } from '../support/addressed-client.ts';
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
const addresses = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];

/** How many requests the guests of these addresses are charged, in the folder that a gateway has left behind. */
async function readState(): Promise<number[]> {
  const { store, close } = await openSqliteStore(dataDir, { now: Date.now, serves: false });
  const counted = addresses.map((address) => store.counters.read({ item: `guest#${networkOf(address)}` }));
  const counts = (await Promise.all(counted)).map(({ used }) => used);
  await close();
  return counts;
}

/** Streams that are open when the process is stopped, each of which ends differently. */
async function startStreams(variables: Record<string, string> = {}) {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  const released = Promise.withResolvers<void>();
  const endings: readonly Script[] = [[write(rest.join(''))], [hangUp], [silence]];
  upstream.otherwise(({ body }) => {
    const from = /"user":"([\d.]+)"/.exec(body.toString())?.[1] ?? '';
    const begun = [head(200, { 'content-type': 'text/event-stream' }), write(first), until(released.promise)];
    return [...begun, ...(endings[addresses.indexOf(from)] ?? [])];
  });
  const gateway = started.use(
    await startGatewayProcess({
      ...{ ...identity, DATA_DIR: dataDir, NETWORK_SALT: 'the salt of the tests' },
      ...{ UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'upstream-key-one', ...variables },
    }),
  );
  expect(gateway.output()).toContain(`upstream  ${new URL(upstream.url).host}\n`);
  const client = createClient(gateway.url);
  started.defer(async () => client.close());
  const begun = addresses.map(() => Promise.withResolvers<void>());
  let leave = () => {};
  const answers = addresses.map((from, index) => {
    const body = JSON.stringify({ ...question, stream: true, user: from });
    const sending = { method: 'POST', path, headers: { 'x-api-key': 'x' }, body, from };
    const sent = client.send(sending, (leaveStream, onText) => {
      leave = index === 2 ? leaveStream : leave;
      onText(/data: /, () => begun[index]?.resolve());
    });
    return sent.catch(() => undefined);
  });
  await inTime(Promise.all(begun.map(({ promise }) => promise)), 'every stream has begun');
  const running = started.move();
  return {
    gateway,
    answers,
    /** Completes one stream, breaks one, and disconnects one client. */
    goOn() {
      released.resolve();
      leave();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

test('a stop settles each running stream: complete, broken, or left; two signals at once, as npm sends, count as one', async () => {
  await using streams = await startStreams();
  const { gateway, answers } = streams;
  // Two that are alike may arrive as one.
  gateway.signal('SIGINT');
  gateway.signal('SIGTERM');
  await gateway.says(/: stopping/);
  await expect(fetch(gateway.url)).rejects.toThrow();
  streams.goOn();
  expect((await answers[0])?.text).toMatch(/\[DONE\]\n\n$/);
  expect((await answers[1])?.text).toMatch('not charged');
  expect(await gateway.ended).toBe(0);
  expect(gateway.errors()).toBe('');
  expect(await readState()).toEqual([1, 0, 1]);
});

test('a stream that does not end in time ends with an error, refunded', async () => {
  await using streams = await startStreams({ SHUTDOWN_GRACE: '0.1', SHUTDOWN_DRAIN: '0.1' });
  const { gateway, answers } = streams;
  gateway.signal('SIGTERM');
  await gateway.says(/requests may end, at most 0\.2 s\./);
  for (const answer of await Promise.all(answers)) {
    expect(answer?.text).toMatch(/"service_unavailable".*\n\n$/);
    expect(answer?.text).toMatch('not charged');
  }
  expect(await gateway.ended).toBe(0);
  expect(await readState()).toEqual([0, 0, 0]);
});

test('a signal repeated later stops at once, and leaves the charges of running streams standing', async () => {
  await using streams = await startStreams();
  const { gateway } = streams;
  const { port } = gateway;
  const again = setInterval(() => gateway.signal('SIGTERM'), 100);
  expect(await gateway.ended).toBe(1);
  clearInterval(again);
  expect(existsSync(join(gatewayFileDirectory(), `gateway-${port}.json`))).toBe(false);
  expect(await readState()).toEqual([1, 1, 1]);
});
