import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createJobQueue } from '../../../lambda/jobs/queue.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

type Limits = Partial<Parameters<typeof createJobQueue>[0]>;

/** A queue, and jobs by name: the first letter is the caller. Each runs until the test ends it. */
function open(limits: Limits = {}) {
  const refuse = () => new Error('refused');
  const queue = createJobQueue({ concurrency: 1, waitTimeout: 1_000, mostWaiting: 10, refuse, ...limits });
  const begun: string[] = [];
  const ended = new Map<string, PromiseWithResolvers<void>>();
  const outcomes: string[] = [];
  return {
    begun,
    outcomes,
    ask(name: string, job: { readonly memory?: number; readonly signal?: AbortSignal } = {}): void {
      const end = Promise.withResolvers<void>();
      ended.set(name, end);
      const work = async () => {
        begun.push(name);
        await end.promise;
        return 'done';
      };
      queue.run({ caller: name.slice(0, 1), ...job }, work).then(
        (result) => outcomes.push(`${name} ${result}`),
        (error) => outcomes.push(`${name} ${error.message}`),
      );
    },
    async end(name: string, failure?: Error): Promise<void> {
      if (failure) ended.get(name)?.reject(failure);
      else ended.get(name)?.resolve();
      await nextTurn();
    },
  };
}

test('a job starts at once if none is running', async () => {
  const { ask, begun, end, outcomes } = open();
  ask('a');
  await nextTurn();
  expect(begun).toEqual(['a']);
  await end('a');
  expect(outcomes).toEqual(['a done']);
  expect(jest.getTimerCount()).toBe(0);
});

test('others wait, and start one after the other, in order of arrival', async () => {
  const { ask, begun, end } = open();
  for (const name of ['a', 'b', 'c']) ask(name);
  await nextTurn();
  expect(begun).toEqual(['a']);
  await end('a');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('as many run at a time as allowed', async () => {
  const { ask, begun, end } = open({ concurrency: 2 });
  for (const name of ['a', 'b', 'c', 'd']) ask(name);
  await nextTurn();
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('callers take turns: a caller with one job does not wait for all jobs of another', async () => {
  const { ask, begun, end } = open();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) ask(name);
  await nextTurn();
  for (let at = 0; at < 7; at += 1) await end(begun[at] ?? '');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a job that fails ends its turn', async () => {
  const { ask, begun, end, outcomes } = open();
  for (const name of ['a', 'b']) ask(name);
  await end('a', new Error('broken'));
  expect(begun).toEqual(['a', 'b']);
  expect(outcomes).toEqual(['a broken']);
});

test('work that throws before it returns a promise ends its turn too', async () => {
  const queue = createJobQueue({ concurrency: 1, waitTimeout: 1, mostWaiting: 1, refuse: () => new Error('refused') });
  const fail = () => {
    throw new Error('broken');
  };
  await expect(queue.run({ caller: 'a' }, fail)).rejects.toThrow('broken');
  await expect(queue.run({ caller: 'a' }, async () => 'done')).resolves.toBe('done');
});

describe('a caller with a limit of its own', () => {
  test('waits for its own jobs, and makes no other caller wait', async () => {
    const { ask, begun, end } = open({ concurrency: 9, concurrencyOfCaller: 1 });
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) ask(name);
    await nextTurn();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2']);
  });
});

describe('the timeout for waiting', () => {
  test('a job that waits for longer is refused, and never starts', async () => {
    const { ask, begun, end, outcomes } = open();
    ask('a');
    await nextTurn();
    jest.advanceTimersByTime(600);
    ask('b');
    jest.advanceTimersByTime(600);
    ask('c');
    jest.advanceTimersByTime(400);
    await nextTurn();
    expect(outcomes).toEqual(['b refused']);
    await end('a');
    expect(begun).toEqual(['a', 'c']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('does not apply to a running job', async () => {
    const { ask, end, outcomes } = open();
    ask('a');
    await nextTurn();
    jest.advanceTimersByTime(100_000);
    await end('a');
    expect(outcomes).toEqual(['a done']);
  });

  test('only so many jobs may wait, per caller', async () => {
    const { ask, begun, outcomes } = open({ mostWaiting: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) ask(name);
    await nextTurn();
    expect(begun).toEqual(['a1']);
    expect(outcomes).toEqual(['a4 refused']);
  });
});

describe('a caller who disconnects', () => {
  const left = new Error('left');

  test('leaves the queue, and loses no turn by it', async () => {
    const { ask, begun, end, outcomes } = open();
    const leaving = new AbortController();
    ask('a1');
    ask('b1', { signal: leaving.signal });
    ask('b2');
    ask('c1');
    await nextTurn();
    leaving.abort(left);
    await nextTurn();
    expect(outcomes).toEqual(['b1 left']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b2']);
  });

  test('starts nothing if it has disconnected before', async () => {
    const { ask, begun, outcomes } = open();
    ask('a', { signal: AbortSignal.abort(left) });
    ask('b');
    await nextTurn();
    expect([begun, outcomes]).toEqual([['b'], ['a left']]);
  });

  test('starts nothing if it disconnects at the very moment of its turn', async () => {
    const { ask, begun, end, outcomes } = open();
    const leaving = new AbortController();
    ask('a', { signal: leaving.signal });
    leaving.abort(left);
    ask('b');
    await nextTurn();
    expect([begun, outcomes]).toEqual([['b'], ['a left']]);
    await end('b');
    expect(outcomes).toEqual(['a left', 'b done']);
  });

  test('whatever waits, fails, disconnects or is refused, every slot is released', async () => {
    const { ask, begun, end } = open({ concurrency: 2, memory: 10 });
    const leaving = new AbortController();
    ask('a', { memory: 6 });
    ask('b', { memory: 6, signal: leaving.signal });
    ask('c', { memory: 6 });
    ask('d', { memory: 4 });
    leaving.abort(left);
    await end('a', new Error('broken'));
    jest.advanceTimersByTime(1_000);
    for (const name of ['c', 'd']) await end(name);
    ask('e', { memory: 10 });
    await nextTurn();
    expect(begun).toEqual(['a', 'c', 'd', 'e']);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('memory', () => {
  test('is taken before a job starts, and released when it ends', async () => {
    const { ask, begun, end } = open({ concurrency: 9, memory: 10 });
    ask('a', { memory: 6 });
    ask('b', { memory: 4 });
    ask('c', { memory: 1 });
    await nextTurn();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('a job that waits for much of it is not overtaken by jobs that need little', async () => {
    const { ask, begun, end } = open({ concurrency: 9, memory: 10 });
    ask('a', { memory: 6 });
    ask('b', { memory: 6 });
    ask('c', { memory: 1 });
    await nextTurn();
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('if a job that waits for it is aborted, the ones behind it start', async () => {
    const { ask, begun } = open({ concurrency: 9, memory: 10 });
    const leaving = new AbortController();
    ask('a', { memory: 6 });
    ask('b', { memory: 6, signal: leaving.signal });
    ask('c', { memory: 1 });
    leaving.abort(new Error('left'));
    await nextTurn();
    expect(begun).toEqual(['a', 'c']);
  });

  test('a job that needs more than all of it runs alone', async () => {
    const { ask, begun, end } = open({ concurrency: 9, memory: 10 });
    ask('a', { memory: 1 });
    ask('b', { memory: 99 });
    ask('c', { memory: 1 });
    await nextTurn();
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });
});
