import { expect, test } from '@jest/globals';
import { renewCredentials } from '../../../lambda/store/renew-credentials.ts';

const minute = 60_000;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Credentials that hold for an hour each, given when the test says so. */
function start() {
  const clock = { now: 0 };
  const asked: PromiseWithResolvers<void>[] = [];
  const provide = async () => {
    const number = asked.push(Promise.withResolvers());
    await asked[number - 1]?.promise;
    return { accessKeyId: `key-${number}`, secretAccessKey: 's', expiration: new Date(clock.now + 60 * minute) };
  };
  const renewed = renewCredentials(provide, () => clock.now);
  return { clock, asked, read: async () => (await renewed()).accessKeyId };
}

test('requests wait for the first ones, all for the same', async () => {
  const { asked, read } = start();
  const both = Promise.all([read(), read()]);
  asked[0]?.resolve();
  expect(await both).toEqual(['key-1', 'key-1']);
  expect(asked).toHaveLength(1);
});

test('they are renewed before they expire, without delay for anybody', async () => {
  const { clock, asked, read } = start();
  const first = read();
  asked[0]?.resolve();
  await first;
  clock.now = 54 * minute;
  expect([await read(), asked.length]).toEqual(['key-1', 1]);
  clock.now = 56 * minute;
  expect([await read(), await read(), asked.length]).toEqual(['key-1', 'key-1', 2]);
  asked[1]?.resolve();
  await nextTurn();
  expect([await read(), asked.length]).toEqual(['key-2', 2]);
});

test('if that fails, the old ones serve while valid, and it is tried again', async () => {
  const { clock, asked, read } = start();
  const first = read();
  asked[0]?.resolve();
  await first;
  clock.now = 56 * minute;
  await read();
  asked[1]?.reject(new Error('planted'));
  await nextTurn();
  clock.now += 9_999;
  expect([await read(), asked.length]).toEqual(['key-1', 2]);
  clock.now += 1;
  expect([await read(), asked.length]).toEqual(['key-1', 3]);
  asked[2]?.reject(new Error('planted'));
  await nextTurn();
  clock.now = 60 * minute;
  const late = read().catch((error) => error);
  asked[3]?.reject(new Error('planted'));
  // As with an unreachable store, nobody passes; but no charge can have been written.
  expect(await late).toMatchObject({ code: 'service_unavailable', reason: undefined });
});

test('those that never expire are fetched once', async () => {
  let asked = 0;
  const renewed = renewCredentials(
    async () => {
      asked += 1;
      return { accessKeyId: 'a', secretAccessKey: 's' };
    },
    () => asked * 1e12,
  );
  await renewed();
  await renewed();
  expect(asked).toBe(1);
});
