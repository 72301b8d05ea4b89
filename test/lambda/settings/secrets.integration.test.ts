import { expect, test } from '@jest/globals';
import { json } from '../../../local/upstream/script.ts';
import { metricsOf } from '../../support/metrics.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { startWatchedGateway } from '../../support/watched-gateway.ts';
import { canary, wire } from '../../support/wire.ts';

const key = { 'x-api-key': canary.clientKey };

test('without keys nobody is served or charged, and later the last known keys stay in use', async () => {
  const secret: { value: string | Error } = { value: new Error('upstream-key-secret') };
  const clock = { now: Date.UTC(2026, 5, 15, 12, 0, 0) };
  await using watched = await startWatchedGateway({
    environment: { UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-secret' },
    now: () => clock.now,
    readSecret: async () => (secret.value instanceof Error ? Promise.reject(secret.value) : secret.value),
  });
  watched.gateway.upstream.otherwise(json(200, wire.chat.answer));
  const ask = () => watched.gateway.post(wire.chat.path, wire.chat.question, key);
  const before = await watched.remaining();
  const unreadable = await ask();
  const header = (name: string) => unreadable.headers.get(name);
  expect([unreadable.status, header('retry-after'), header('x-svc-remaining')]).toEqual([503, '1', String(before)]);
  const error = { code: 'service_unavailable', message: expect.stringMatching('settings') };
  expect(await unreadable.json()).toMatchObject({ error });
  secret.value = '{}';
  const missing = await ask();
  expect([missing.status, missing.headers.get('x-svc-error')]).toEqual([503, 'unconfigured']);
  expect(await watched.remaining()).toBe(before);
  secret.value = 'upstream-key-1';
  clock.now += 60_000;
  expect((await ask()).status).toBe(200);
  expect(watched.gateway.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer upstream-key-1');
  secret.value = new Error('upstream-key-secret');
  clock.now += 60_000;
  expect((await ask()).status).toBe(200);
  const warnings = watched.gateway.log.filter(({ message }) => message === 'secret not refreshed');
  expect(warnings.map((line) => metricsOf(line))).toEqual([{ SecretsNotRefreshed: 1 }]);
});

const twoUpstreams = {
  UPSTREAM_2_BASE_URL: 'https://two.example/v1',
  UPSTREAM_2_TEXT_MODEL: 'a',
  UPSTREAM_2_VISION_MODEL: 'b',
};

test.each([
  [
    'holds no key',
    async () => '{"UPSTREAM_API_KEYS":""}',
    {},
    {
      ...{ level: 'error', message: 'no upstream key', secret: 'the-secret' },
      hint: 'store UPSTREAM_API_KEYS in this secret (docs/deploy.md): until then every request is refused (503 unconfigured)',
    },
  ],
  [
    'has no key for one upstream',
    async () => 'upstream-key-1',
    twoUpstreams,
    {
      ...{ level: 'error', message: 'no upstream key', secret: 'the-secret' },
      hint: 'store UPSTREAM_2_API_KEYS in this secret (docs/deploy.md): until then this upstream is not used',
    },
  ],
  [
    'cannot be read',
    () => Promise.reject(new RangeError('upstream-key-secret')),
    {},
    { level: 'warn', message: 'upstream keys not read', secret: 'the-secret', cause: 'RangeError' },
  ],
])('a startup log line says that the secret %s', async (_what, readSecret, more, line) => {
  await using watched = await startWatchedGateway({
    environment: { UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-secret', ...more },
    readSecret,
  });
  const { log } = watched.gateway;
  await waitUntil(() => log.length > 0, 'the start has left a line');
  expect(log).toEqual([expect.objectContaining(line)]);
});

test('nothing is logged if the secret has all keys', async () => {
  await using watched = await startWatchedGateway({
    environment: { UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-secret', ...twoUpstreams },
    readSecret: async () => '{"UPSTREAM_API_KEYS":"upstream-key-1","UPSTREAM_2_API_KEYS":"upstream-key-2"}',
  });
  expect(await watched.remaining()).toBeGreaterThan(0);
  expect(watched.gateway.log.map(({ message }) => message)).toEqual(['answered']);
});

test('a read that was frozen with its process delays nobody', async () => {
  const clock = { now: Date.UTC(2026, 5, 15, 12, 0, 0) };
  const reads: string[] = [];
  const thawed = Promise.withResolvers<string>();
  await using watched = await startWatchedGateway({
    environment: {
      ...{ UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-keys' },
      ...{ NETWORK_SALT: '', NETWORK_SALT_SECRET_ID: 'the-salt' },
    },
    now: () => clock.now,
    // Each is prefetched while the process starts.
    readSecret: async (id) => (reads.push(id) > 2 ? `of-sufficient-length-${id}` : thawed.promise),
  });
  watched.gateway.upstream.otherwise(json(200, wire.chat.answer));
  expect(reads.toSorted()).toEqual(['the-keys', 'the-salt']);
  clock.now += 600_000;
  expect((await watched.gateway.post(wire.chat.path, wire.chat.question, key)).status).toBe(200);
  thawed.reject(new Error('the connection is gone'));
});

test('without the network salt nobody is served, until it can be read', async () => {
  const secret: { value: string | undefined } = { value: undefined };
  await using watched = await startWatchedGateway({
    environment: { NETWORK_SALT: '', NETWORK_SALT_SECRET_ID: 'the-salt' },
    readSecret: async () => secret.value ?? Promise.reject(new Error('no')),
  });
  watched.gateway.upstream.otherwise(json(200, wire.messages.answer));
  const ask = () => watched.gateway.post(wire.messages.path, wire.messages.question, key);
  const refused = await ask();
  expect([refused.status, refused.headers.get('x-svc-remaining')]).toEqual([503, '0']);
  expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
  secret.value = 'too short';
  expect((await ask()).status).toBe(503);
  secret.value = 'a salt that is long enough';
  expect((await ask()).status).toBe(200);
});
