import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createRepeat, type Deadline, ServiceError } from '../../../lambda/aws/repeat.ts';
import { testRows } from '../../support/test-rows.ts';

const failing = () => new ServiceError('NoAnswer', 'lost');
const unsent = () => new ServiceError('NoAnswer', 'found nobody', { inDoubt: false });
const broken = () => new ServiceError('Broken', 'failed', { status: 500 });
const throttled = () => new ServiceError('ThrottlingException', 'slower', { status: 400 });
const refused = () => new ServiceError('ConditionalCheckFailedException', 'no', { status: 400 });

/** A client of a scripted service, with a clock that advances with the pauses. */
function createCaller() {
  const clock = { time: 0, pause: 0 };
  const pauses: number[] = [];
  const pause = async (milliseconds: number) => {
    pauses.push(milliseconds);
    clock.time += clock.pause;
  };
  const repeat = createRepeat({ now: () => clock.time, random: () => 1, pause });
  let attempts = 0;
  /** Makes a call whose attempts end as given; the last of them is the end of all others. */
  const call = async (...ends: readonly (() => Error | string)[]) => {
    const before = attempts;
    const made = await repeat(async (number) => {
      attempts += 1;
      const end = ends[Math.min(number, ends.length) - 1]?.();
      if (end instanceof Error) throw end;
      return end;
    }).catch((error: ServiceError) => error);
    return { made, attempts: attempts - before };
  };
  return { call, clock, pauses };
}

const fine = () => 'fine';

describe('the retries of a process have a budget', () => {
  test('that an outage uses up', async () => {
    const { call } = createCaller();
    const attempts: number[] = [];
    for (let count = 0; count < 100; count += 1) await call(fine); // It is never more than full.
    for (let count = 0; count < 30; count += 1) attempts.push((await call(failing)).attempts);
    expect(attempts).toEqual([...Array(17).fill(3), 2, ...Array(12).fill(1)]);
  });

  test('that successful calls refill, after a retry by a whole retry', async () => {
    const { call } = createCaller();
    for (let count = 0; count < 30; count += 1) await call(failing);
    expect((await call(failing)).attempts).toBe(1);
    for (let count = 0; count < 4; count += 1) await call(fine);
    expect(await call(failing, fine)).toEqual({ made: 'fine', attempts: 2 });
    expect(await call(failing, fine)).toEqual({ made: 'fine', attempts: 2 });
    expect((await call(failing)).attempts).toBe(2);
    expect((await call(failing)).attempts).toBe(1);
  });
});

test('a process that was frozen does not retry once two seconds have passed on its clock', async () => {
  const { call, clock } = createCaller();
  clock.pause = 999;
  expect(await call(failing, failing, fine)).toEqual({ made: 'fine', attempts: 3 });
  clock.pause = 2000;
  expect(await call(failing, fine)).toEqual({ made: expect.objectContaining({ name: 'NoAnswer' }), attempts: 1 });
});

test('pauses grow, up to a limit', async () => {
  const { call, pauses } = createCaller();
  await call(failing);
  expect(pauses).toEqual([100, 200]);
});

describe('a refusal says whether an earlier attempt may have been carried out', () => {
  testRows([
    ['at the first attempt, it was not', [refused], false],
    ['after one that was lost, it may', [failing, refused], true],
    ['after one that the service failed, it may', [broken, refused], true],
    ['after one that was throttled, it was not', [throttled, refused], false],
    ['after one that was lost and one that was throttled, it may', [failing, throttled, refused], true],
    ['after one that found nobody', [unsent, refused], false],
  ])('after any attempts before it', async (_name, ends, inDoubt) => {
    const { made } = await createCaller().call(...ends);
    expect(made).toMatchObject({ name: 'ConditionalCheckFailedException', inDoubt });
  });
});

test('an error that prevents a retry says whether the first attempt may have been carried out', async () => {
  const { call } = createCaller();
  const unsigned = () => new TypeError('no signature');
  const cause = { message: 'no signature' };
  expect((await call(failing, unsigned)).made).toMatchObject({ name: 'NotSent', inDoubt: true, cause });
  expect((await call(throttled, unsigned)).made).toMatchObject({ name: 'TypeError', ...cause });
});

describe('a call has one time limit', () => {
  afterEach(() => void jest.useRealTimers());

  /** A call whose attempts are lost a second after they were sent, or as they are given up. */
  function startSlowCall({ inDoubt = true } = {}) {
    jest.useFakeTimers();
    const lost = () => new ServiceError('NoAnswer', 'lost', { inDoubt });
    const sent: Deadline[] = [];
    const send = (_number: number, deadline: Deadline) =>
      new Promise<never>((_, reject) => {
        sent.push(deadline);
        deadline.giveUp = () => reject(lost());
        setTimeout(() => reject(lost()), 1_000);
      });
    const call = createRepeat({ now: () => 0, random: () => 0, pause: async () => {} })(send);
    return { sent, outcome: call.catch((error: unknown) => error) };
  }

  testRows([
    ['sent', true],
    ['never sent', false],
  ])('after which it is aborted, and in doubt if anything was sent', async (_name, inDoubt) => {
    const { sent, outcome } = startSlowCall({ inDoubt });
    await jest.advanceTimersByTimeAsync(1_999);
    expect(sent.map(({ isOver }) => isOver)).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject({ name: 'TooSlow', inDoubt, cause: { name: 'NoAnswer' } });
    expect(sent).toHaveLength(2);
  });

  test('after which nothing is sent, even after a long pause', async () => {
    jest.useFakeTimers();
    let sent = 0;
    const send = async () => {
      sent += 1;
      throw failing();
    };
    const paused = Promise.withResolvers<void>();
    const call = createRepeat({ now: () => 0, random: () => 0, pause: () => paused.promise })(send);
    const outcome = call.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(2_000);
    paused.resolve();
    expect(await outcome).toMatchObject({ name: 'TooSlow', inDoubt: true });
    expect(sent).toBe(1);
  });

  testRows([
    ['succeeds', fine],
    ['is refused', refused],
  ])('whose timer is cleared when it ends', async (_name, end) => {
    jest.useFakeTimers();
    await createCaller().call(end);
    expect(jest.getTimerCount()).toBe(0);
  });
});
