import { expect, test } from '@jest/globals';
import type { Upstream } from '../../../lambda/settings/read-upstreams.ts';
import { createSecrets } from '../../../lambda/settings/secrets.ts';
import { testRows } from '../../support/test-rows.ts';
import { turnEventLoop } from '../../support/wait-until.ts';

/** The secrets of a gateway. The test sets the upstream secret; an Error is thrown instead of read. */
function start(value: string | Error, { inBackground = false } = {}) {
  const secret = { value, reads: 0 };
  const clock = { now: 0 };
  const tasks: (() => void)[] = [];
  const stale: unknown[] = [];
  const readSecret = async () => {
    secret.reads += 1;
    if (secret.value instanceof Error) throw secret.value;
    return secret.value;
  };
  const runEvery = (task: () => void, time: number) => {
    expect(time).toBe(60_000);
    tasks.push(task);
  };
  const secrets = createSecrets(
    { upstreamSecretId: 'id', networkSalt: 'salt', networkSaltSecretId: undefined, edgeSecretId: undefined },
    {
      ...{ readSecret, now: () => clock.now, onStale: (error) => stale.push(error) },
      ...(inBackground && { runEvery }),
    },
  );
  const accessOf = (prefix = 'UPSTREAM', apiKeys: string[] = []) =>
    secrets.upstreamAccess({ prefix, apiKeys, headers: {} } as unknown as Upstream);
  return { secret, clock, tasks, stale, accessOf, keys: async () => (await accessOf()).keys };
}

testRows<[string, string[]]>([
  ['key-1', ['key-1']],
  ['{"UPSTREAM_API_KEYS":"key-1","UPSTREAM_2_API_KEYS":"other"}', ['key-1']],
  ['upstream key\u00a00,key-1', ['key-1']], // the first can't be sent in a header
  ['', []],
  ['{}', []],
  ['{"UPSTREAM_API_KEYS":5}', []],
])('keys in a secret may be in any format, or missing', async (text, keys) => {
  expect(await start(text).keys()).toEqual(keys);
});

test('each upstream has its own part of the secret', async () => {
  const secret = { UPSTREAM_API_KEYS: 'a,b', UPSTREAM_HEADERS: { 'x-org': 'o' }, UPSTREAM_2_API_KEYS: 'c' };
  const { accessOf } = start(JSON.stringify(secret));
  expect(await accessOf()).toMatchObject({ keys: ['a', 'b'], secretHeaders: { 'x-org': 'o' } });
  expect(await accessOf('UPSTREAM_2')).toMatchObject({ keys: ['c'], secretHeaders: {} });
  expect(await accessOf('UPSTREAM_2', ['of the environment'])).toMatchObject({ keys: ['of the environment'] });
});

test('concurrent reads of the secret are coalesced', async () => {
  const { secret, keys } = start('key');
  expect(await Promise.all([keys(), keys(), keys()])).toEqual(Array(3).fill(['key']));
  expect(secret.reads).toBe(1);
});

test('a rotated key takes effect within 60 s, and the secret is read no more often than that', async () => {
  const { secret, clock, keys } = start('old');
  await keys();
  secret.value = 'new';
  clock.now += 59_999;
  expect([await keys(), secret.reads]).toEqual([['old'], 1]);
  clock.now += 1;
  expect([await keys(), secret.reads]).toEqual([['new'], 2]);
});

test('in a long-running process, no request waits for a refresh', async () => {
  const { secret, clock, keys, tasks, stale } = start('old', { inBackground: true });
  await keys();
  secret.value = 'new';
  clock.now += 3_600_000;
  expect([await keys(), secret.reads, tasks.length]).toEqual([['old'], 1, 1]);
  tasks[0]?.();
  await turnEventLoop(2);
  expect([await keys(), secret.reads]).toEqual([['new'], 2]);
  secret.value = new Error('planted');
  tasks[0]?.();
  await turnEventLoop(2);
  expect([await keys(), secret.reads, stale]).toEqual([['new'], 3, [secret.value]]);
});

test('a secret that can’t be refreshed stays in use, with a warning each time', async () => {
  const { secret, clock, keys, stale } = start('known');
  await keys();
  secret.value = new Error('planted');
  for (const reads of [2, 3]) {
    clock.now += 60_000;
    expect([await keys(), await keys(), secret.reads, stale.length]).toEqual([['known'], ['known'], reads, reads - 1]);
  }
});
