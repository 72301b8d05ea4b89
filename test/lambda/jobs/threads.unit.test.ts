import { getActiveResourcesInfo } from 'node:process';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createThreads } from '../../../lambda/jobs/threads.ts';

const entry = new URL('../../support/threads/thread.ts', import.meta.url);
const order = (name: string, input: unknown = undefined) => ({ name, text: '', isLenient: false, input });
const tooMuch = { code: 'service_unavailable', refund: true, reason: 'too_much_work' };

afterEach(() => {
  jest.useRealTimers();
});

describe('a thread', () => {
  test('gets the facts of the deployment once, and then each job', async () => {
    const doInThread = createThreads({ entry, facts: { name: 'svc' }, heap: 32, fromFault: (fault) => fault });
    expect(await doInThread(order('echo', new Set([1])))).toEqual({ input: new Set([1]), workerData: { name: 'svc' } });
    expect(await doInThread(order('echo', 2))).toMatchObject({ input: 2 });
  });

  test.each(['die', 'throw', 'eat'])('that dies during a job (%s) fails that job alone', async (name) => {
    const doInThread = createThreads({ entry, facts: {}, heap: 32, fromFault: (fault) => fault });
    const [first, second] = await Promise.allSettled([doInThread(order(name)), doInThread(order('echo', 'other'))]);
    expect(first).toMatchObject({ status: 'rejected', reason: tooMuch });
    expect(second).toMatchObject({ status: 'fulfilled', value: { input: 'other' } });
    expect(await doInThread(order('echo', 'next'))).toMatchObject({ input: 'next' });
  });

  test('is terminated if a job takes too long', async () => {
    const doInThread = createThreads({ entry, facts: {}, heap: 32, fromFault: (fault) => fault });
    await doInThread(order('echo'));
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const spinning = doInThread(order('spin'));
    jest.advanceTimersByTime(10_000);
    await expect(spinning).rejects.toMatchObject(tooMuch);
  });

  test('ends when idle, and keeps no process alive until then', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const doInThread = createThreads({ entry, facts: {}, heap: 32, fromFault: (fault) => fault });
    await doInThread(order('echo'));
    expect(getActiveResourcesInfo()).not.toContain('Worker');
    jest.advanceTimersByTime(30_000);
    expect(await doInThread(order('echo', 'again'))).toMatchObject({ input: 'again' });
  });
});
