import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';

import type { RunEvery } from '../../../lambda/settings/refresh.ts';
import { json } from '../../../local/upstream/script.ts';

import { metricsOf } from '../../support/metrics.ts';
import { testRows } from '../../support/test-rows.ts';
import { startWatchedGateway } from '../../support/watched-gateway.ts';
import { canary, wire } from '../../support/wire.ts';

const key = { 'x-api-key': canary.clientKey };

/** A gateway with its upstream keys in a secret; an Error in its place is thrown. */
async function startWithSecret(value: string | Error, environment: Record<string, string> = {}, runEvery?: RunEvery) {
  const secret = { value, reads: [] as string[] };
  const clock = { now: Date.UTC(2026, 5, 15, 12, 0, 0) };
  const watched = await startWatchedGateway({
    environment: { UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-secret', ...environment },
    now: () => clock.now,
    ...(runEvery && { runEvery }),
    readSecret: async (id) => {
      secret.reads.push(id);
      if (secret.value instanceof Error) throw secret.value;
      return secret.value;
    },
  });
  const { upstream } = watched.gateway;
  upstream.otherwise(json(200, wire.chat.answer));
  const usedKey = () => upstream.requests.at(-1)?.headers.authorization;
  const ask = () => watched.gateway.post(wire.chat.path, wire.chat.question, key);
  return Object.assign(watched, { secret, clock, usedKey, ask });
}

describe('upstream keys in a secret', () => {
  testRows([
    ['a bare key', 'upstream-key-1'],
    ['an object', '{"UPSTREAM_API_KEYS":"upstream-key-1","UPSTREAM_2_API_KEYS":"other"}'],
    ['with one that no header can carry', 'upstream key\u00a00,upstream-key-1'],
  ])('may have any form', async (_name, value) => {
    await using gateway = await startWithSecret(value);
    expect((await gateway.ask()).status).toBe(200);
    expect(gateway.usedKey()).toBe('Bearer upstream-key-1');
    expect(gateway.secret.reads).toEqual(['the-secret']);
  });

  testRows(['', '{}', '{"UPSTREAM_API_KEYS":5}'])(
    'may be missing, so that the gateway is unconfigured',
    async (value) => {
      await using gateway = await startWithSecret(value);
      const response = await gateway.ask();
      expect([response.status, response.headers.get('x-svc-error')]).toEqual([503, 'unconfigured']);
      expect(await gateway.remaining()).toBe(100_000);
    },
  );

  test('a rotated key is in use 60 s later, and the secret is read no more often than that', async () => {
    await using gateway = await startWithSecret('upstream-key-old');
    await gateway.ask();
    gateway.secret.value = 'upstream-key-new';
    gateway.clock.now += 59_999;
    await gateway.ask();
    expect([gateway.usedKey(), gateway.secret.reads.length]).toEqual(['Bearer upstream-key-old', 1]);
    gateway.clock.now += 1;
    await gateway.ask();
    expect([gateway.usedKey(), gateway.secret.reads.length]).toEqual(['Bearer upstream-key-new', 2]);
  });

  test('in a process that lives between requests, none waits for a refresh', async () => {
    const tasks: (() => void)[] = [];
    await using gateway = await startWithSecret('upstream-key-old', {}, (task, time) => {
      expect(time).toBe(60_000);
      tasks.push(task);
    });
    await gateway.ask();
    gateway.secret.value = 'upstream-key-new';
    gateway.clock.now += 3_600_000;
    await gateway.ask();
    expect([gateway.usedKey(), gateway.secret.reads.length, tasks.length]).toEqual(['Bearer upstream-key-old', 1, 2]);
    for (const task of tasks) task();
    await setImmediate();
    await gateway.ask();
    expect([gateway.usedKey(), gateway.secret.reads.length]).toEqual(['Bearer upstream-key-new', 2]);
    gateway.secret.value = new Error('planted');
    tasks[0]?.();
    await setImmediate();
    await gateway.ask();
    expect([gateway.usedKey(), gateway.secret.reads.length]).toEqual(['Bearer upstream-key-new', 3]);
  });

  test('unreadable from the start: refused, uncharged, until it can be read', async () => {
    await using gateway = await startWithSecret(new Error('upstream-key-secret'));
    const before = await gateway.remaining();
    const response = await gateway.ask();
    const header = (name: string) => response.headers.get(name);
    expect([response.status, header('retry-after'), header('x-svc-remaining')]).toEqual([503, '1', String(before)]);
    const error = { code: 'service_unavailable', message: expect.stringMatching('settings') };
    expect(await response.json()).toMatchObject({ error });
    expect(await gateway.remaining()).toBe(before);
    gateway.secret.value = 'upstream-key-1';
    expect((await gateway.ask()).status).toBe(200);
  });

  test('unreadable later: the last known keys stay in use, with a warning each time', async () => {
    await using gateway = await startWithSecret('upstream-key-1');
    await gateway.ask();
    gateway.secret.value = new Error('upstream-key-secret');
    for (const reads of [2, 3]) {
      gateway.clock.now += 60_000;
      expect((await gateway.ask()).status).toBe(200);
      expect((await gateway.ask()).status).toBe(200);
      expect(gateway.secret.reads).toHaveLength(reads);
      const warnings = gateway.gateway.log.filter(({ message }) => message === 'secret not refreshed');
      expect(warnings).toHaveLength(reads - 1);
      for (const warning of warnings) expect(metricsOf(warning)).toEqual({ SecretsNotRefreshed: 1 });
    }
  });
});

test('a read that was frozen with its environment delays nobody', async () => {
  const clock = { now: Date.UTC(2026, 5, 15, 12, 0, 0) };
  const reads: string[] = [];
  const thawed = Promise.withResolvers<string>();
  await using watched = await startWatchedGateway({
    environment: {
      ...{ UPSTREAM_API_KEYS: '', UPSTREAM_SECRET_ID: 'the-keys' },
      ...{ NETWORK_SALT: '', NETWORK_SALT_SECRET_ID: 'the-salt' },
    },
    now: () => clock.now,
    // Each is first read while the environment starts.
    readSecret: async (id) => (reads.push(id) > 2 ? `of-sufficient-length-${id}` : thawed.promise),
  });
  watched.gateway.upstream.otherwise(json(200, wire.chat.answer));
  expect(reads.toSorted()).toEqual(['the-keys', 'the-salt']);
  clock.now += 600_000;
  expect((await watched.gateway.post(wire.chat.path, wire.chat.question, key)).status).toBe(200);
  thawed.reject(new Error('the connection is gone'));
});

test('without the salt of network addresses nobody is served, until it can be read', async () => {
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
