import { expect, test } from '@jest/globals';
import { createSpendLimit } from '../../../lambda/quota/spend-limit.ts';
import { createTallyStore } from '../../support/tally-store.ts';

test('what this process has spent counts at once, and once', async () => {
  let time = 0;
  const store = createTallyStore();
  const limit = createSpendLimit({ tallies: store, spendLimit: 16, now: () => time, onLost: () => {} });
  await limit.check();
  for (const percent of [25, 50, 75]) {
    await limit.add(4);
    expect(await limit.check()).toBe(percent);
  }
  // Once more when it has been read, and while it is being written.
  time = 10_000;
  expect(await limit.check()).toBe(75);
  time = 20_000;
  const adding = limit.add(4);
  await expect(limit.check()).rejects.toMatchObject({ reason: 'spend_limit' });
  await adding;
  time = 30_000;
  await expect(limit.check()).rejects.toMatchObject({ reason: 'spend_limit' });
});

test('what was spent is read again after a failure, and once in ten seconds otherwise', async () => {
  let time = 0;
  const store = createTallyStore();
  const lost: unknown[] = [];
  const limit = createSpendLimit({
    tallies: store,
    spendLimit: 16,
    now: () => time,
    onLost: (error) => lost.push(error),
  });
  for (let count = 0; count < 8; count += 1) await limit.add(1);
  store.fault = 'failing';
  await expect(limit.check()).rejects.toThrow('down');
  await limit.add(1);
  expect(lost).toHaveLength(1);
  store.fault = undefined;
  store.operations.length = 0;
  for (const [at, reads] of [
    [0, 8],
    [9_999, 8],
    [10_000, 16],
  ] as const) {
    time = at;
    expect([await limit.check(), store.operations.length]).toEqual([50, reads]);
  }
});

test('costs of answers that end while one is written leave together, each once, and none waits for more than two writes', async () => {
  const store = createTallyStore();
  const lost: unknown[] = [];
  const limit = createSpendLimit({
    tallies: store,
    spendLimit: 1_000,
    now: () => 0,
    onLost: (error) => lost.push(error),
  });
  const first = limit.add(1);
  await Promise.resolve();
  const others = [2, 3, 4].map((cost) => limit.add(cost));
  await first;
  expect([...store.sums.values()]).toEqual([1]);
  await Promise.all(others);
  expect([...store.sums.values()]).toEqual([1, 9]);
  expect(store.operations).toEqual(['write', 'write']);
  // What fails is told once, and keeps no later cost from being written.
  store.fault = 'failing';
  await Promise.all([limit.add(5), limit.add(6)]);
  expect(lost).toHaveLength(1);
  store.fault = undefined;
  await limit.add(7);
  expect(await limit.check()).toBe(1.7);
});

test('a sum that is read while costs are written counts each of them once', async () => {
  const limit = createSpendLimit({ tallies: createTallyStore(), spendLimit: 100, now: () => 0, onLost: () => {} });
  const first = limit.add(1);
  await Promise.resolve();
  const before = limit.add(2);
  const checked = limit.check();
  const after = limit.add(4);
  expect(await checked).toBe(7);
  await Promise.all([first, before, after]);
  expect(await limit.check()).toBe(7);
});

test('costs of two days are never written together', async () => {
  let time = 86_399_999;
  const store = createTallyStore();
  const limit = createSpendLimit({ tallies: store, spendLimit: 100, now: () => time, onLost: () => {} });
  const ofYesterday = limit.add(1);
  time += 1;
  await Promise.all([ofYesterday, limit.add(2), limit.add(4)]);
  expect([...store.sums].map(([name, sum]) => [name.split('#')[1], sum])).toEqual([
    ['0', 1],
    ['1', 6],
  ]);
});
