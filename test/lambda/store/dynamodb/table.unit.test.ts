import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { ServiceError, tooSlow } from '../../../../lambda/aws/repeat.ts';
import { GatewayError } from '../../../../lambda/errors.ts';
import { createQueue } from '../../../../lambda/store/dynamodb/table.ts';
import { testRows } from '../../../support/test-rows.ts';

testRows([new TypeError('a mistake'), new ServiceError('ValidationException', 'a wrong call', { status: 400 })])(
  'an error that is no outage passes through',
  async (mistake) => {
    await expect(createQueue()(() => Promise.reject(mistake))).rejects.toBe(mistake);
  },
);

test('concurrency is limited, and a failed operation frees its place', async () => {
  const inTurn = createQueue();
  let [running, most] = [0, 0];
  const operate = (index: number) =>
    inTurn(async () => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      if (index % 3 === 0) throw new Error('failed');
    });
  const crowd = Array.from({ length: 100 }, (_, index) => operate(index));
  await Promise.any(crowd.slice(50));
  crowd.push(...Array.from({ length: 100 }, (_, index) => operate(index)));
  const outcomes = await Promise.allSettled(crowd);
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(132);
  expect(most).toBe(32);
});

describe('queued operations', () => {
  /** Operations that the test settles. */
  function startCrowd(count: number) {
    const inTurn = createQueue();
    const running: PromiseWithResolvers<string>[] = [];
    const operate = () =>
      inTurn(() => {
        const operation = Promise.withResolvers<string>();
        running.push(operation);
        return operation.promise;
      });
    return { running, operate, outcomes: Promise.allSettled(Array.from({ length: count }, operate)) };
  }
  const late = () => new ServiceError(tooSlow, '');

  test('fail at once if the store is down', async () => {
    const { running, operate, outcomes } = startCrowd(100);
    for (const { reject } of running) reject(late());
    const ends = await outcomes;
    expect(ends).toEqual(Array(100).fill({ status: 'rejected', reason: expect.objectContaining(unavailable) }));
    // Only what was sent may have been carried out.
    const reasons = ends.map((end) => end.status === 'rejected' && end.reason.reason);
    expect(reasons).toEqual([...Array(32).fill('answer_lost'), ...Array(68).fill(undefined)]);
    expect(running).toHaveLength(32);
    // A later one is not delayed.
    const later = operate();
    running.at(-1)?.resolve('done');
    expect(await later).toBe('done');
  });

  testRows([
    ['answers', (end: PromiseWithResolvers<string>) => end.resolve('done')],
    ['refuses', (end: PromiseWithResolvers<string>) => end.reject(new ServiceError('No', '', { status: 400 }))],
  ])('keep waiting if others get a response while one times out', async (_name, settle) => {
    const { running, outcomes } = startCrowd(100);
    for (const end of running.slice(1)) settle(end);
    await setImmediate();
    running[0]?.reject(late());
    for (let turn = 0; turn < 5; turn += 1) {
      for (const end of running) settle(end);
      await setImmediate();
    }
    expect(running).toHaveLength(100);
    const unavailables = (await outcomes).filter(
      (end) => end.status === 'rejected' && end.reason instanceof GatewayError,
    );
    expect(unavailables).toHaveLength(1);
  });

  testRows([
    ['lose their answers', () => new ServiceError('NoAnswer', '')],
    ['are throttled', () => new ServiceError('ThrottlingException', '', { status: 400 })],
  ])('keep waiting if others fail quickly', async (_name, error) => {
    const { running, outcomes } = startCrowd(64);
    for (const { reject } of running.slice(0, 32)) reject(error());
    await setImmediate();
    expect(running).toHaveLength(64);
    for (const { resolve } of running.slice(32)) resolve('done');
    expect((await outcomes).slice(32)).toEqual(Array(32).fill({ status: 'fulfilled', value: 'done' }));
  });
});

const unavailable = { code: 'service_unavailable', status: 503, headers: { 'retry-after': '1' } };
