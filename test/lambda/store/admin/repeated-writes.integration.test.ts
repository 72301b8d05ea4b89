import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from '@jest/globals';
import { createAdminCounters } from '../../../../lambda/store/admin/counters.ts';
import { createDeviceFlowStore } from '../../../../lambda/store/admin/device-flow.ts';
import { createKeyStore } from '../../../../lambda/store/admin/keys.ts';
import { createMemberStore } from '../../../../lambda/store/admin/members.ts';
import { createStopSwitch } from '../../../../lambda/store/admin/stop-switch.ts';
import type { OpenReservation } from '../../../../lambda/store/counters.ts';
import { createCounters } from '../../../../lambda/store/dynamodb/counters.ts';
import { createTestDocuments, startTestDynamoDb } from '../../../support/dynamodb.ts';
import { startStoreProxy } from '../../../support/store-proxy.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const later = noon + 3_600_000;
const token = 'AAAAAAAAAAA=';

/** Everything that the account pages and operators write, in an order that works. */
const writes: readonly [name: string, write: (stores: Stores) => Promise<unknown>][] = [
  ['issue', ({ keys }) => keys.put('hash', { ...record, id: 'key_1' })],
  ['issue another', ({ keys }) => keys.put('other', { ...record, id: 'key_2' })],
  ['change', ({ keys }) => keys.change('key_1', { limit: 5, models: ['svc'] })],
  ['change back', ({ keys }) => keys.change('key_1', { limit: undefined })],
  ['revoke', ({ keys }) => keys.revoke('key_1', noon)],
  ['link', ({ keys }) => keys.link('network', { member: 'ada', linkedAt: noon, expiresAt: later })],
  ['put a challenge', ({ members }) => members.putChallenge('nonce', { ...challenge, expiresAt: later })],
  ['take it', ({ members }) => members.takeChallenge('nonce', challenge, noon, token)],
  ['take it again', ({ members }) => members.takeChallenge('nonce', challenge, noon, 'BBBBBBBBBBB=')],
  ['open a session', ({ members }) => members.putSession('hash', { member: 'ada', expiresAt: later })],
  ['take the last slot', ({ members }) => members.takeSlot('ada', { hash: 'hash', takenAt: noon }, 1)],
  ['take one more', ({ members }) => members.takeSlot('ada', { hash: 'other', takenAt: noon }, 1)],
  ['free a slot', ({ members }) => members.freeSlots('ada', [{ hash: 'hash', takenAt: noon }])],
  ['renew', ({ members }) => members.renewKey('other', 'ada', later + 1, noon)],
  ['revoke as a member', ({ members }) => members.revokeKey('other', 'ada', noon)],
  ['sign out', ({ members }) => members.signOut('ada', noon)],
  ['start a device flow', ({ deviceFlow }) => deviceFlow.put('code', terminal, noon)],
  ['start another with its code', ({ deviceFlow }) => deviceFlow.put('code', { ...terminal, device: 'another' }, noon)],
  ['approve it', ({ deviceFlow }) => deviceFlow.decide('device', 'ada', noon, token)],
  ['approve it again', ({ deviceFlow }) => deviceFlow.decide('device', 'eve', noon, 'BBBBBBBBBBB=')],
  ['take its key', ({ deviceFlow }) => deviceFlow.take('device', noon, token)],
  ['take it again', ({ deviceFlow }) => deviceFlow.take('device', noon, 'BBBBBBBBBBB=')],
  ['stop', ({ stop }) => stop.stop({ at: 'noon', reason: 'tea' })],
  ['stop again', ({ stop }) => stop.stop({ at: 'later' })],
  ['release a reservation', ({ counts, reservation }) => counts.settle(counted, reservation, { spent: 3 })],
];

const record = { member: 'ada', createdAt: noon, expiresAt: later, renewable: true } as const;
const challenge = { digest: 'digest', purpose: 'link' };
const terminal = { device: 'device', networkId: 'network', askedAt: noon, expiresAt: later };
const counted = { item: 'member#ada', budget: { period: 'm682' } };

type Stores = Awaited<ReturnType<typeof startStores>>;

/** All stores. With `loses`, the first response to each write is lost. */
async function startStores(loses: boolean) {
  await using started = new AsyncDisposableStack();
  const database = await startTestDynamoDb();
  started.defer(database.close);
  const proxy = started.use(
    await startStoreProxy(database.endpoint, ({ name, attempt }) =>
      loses && attempt === 1 && /^(Put|Update|Delete)Item$/.test(name) ? 'answer lost' : undefined,
    ),
  );
  const { keysTable, quotaTable, client } = database;
  const budget = { amount: 100, window: 'month', period: 'm682', resetAt: later, reserve: 40 } as const;
  const window = { ...counted, limit: 5, burst: 5, minute: noon / 60_000, budget };
  const charge = await createCounters(database.callDynamoDb, quotaTable, () => noon).charge(window, token);
  const { reservation } = charge as { reservation: OpenReservation };
  const documents = createTestDocuments(proxy.endpoint);
  const running = started.move();
  return {
    keys: createKeyStore(documents, keysTable),
    members: createMemberStore(documents, keysTable),
    deviceFlow: createDeviceFlowStore(documents, keysTable),
    stop: createStopSwitch(documents, keysTable),
    counts: createAdminCounters(documents, quotaTable),
    reservation,
    operations: proxy.operations,
    async readAll() {
      const pages = [keysTable, quotaTable].map((TableName) => client.send(new ScanCommand({ TableName })));
      const items = (await Promise.all(pages)).flatMap(({ Items = [] }) => Items);
      return items.toSorted(byKey);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const byKey = (one: { pk?: { S?: string } }, other: typeof one) => `${one.pk?.S}`.localeCompare(`${other.pk?.S}`);

test('a write that is retried because its response was lost is applied once', async () => {
  await using lossy = await startStores(true);
  await using sound = await startStores(false);
  for (const [name, write] of writes) {
    expect([name, await write(lossy)]).toEqual([name, await write(sound)]);
    expect([name, await lossy.readAll()]).toEqual([name, await sound.readAll()]);
  }
});

test('a retried delete still deletes, but no longer returns the item', async () => {
  await using lossy = await startStores(true);
  await lossy.stop.stop({ at: 'noon' });
  expect([await lossy.stop.resume(), await lossy.stop.read()]).toEqual([undefined, undefined]);
});

test('a retried guess at a code counts twice, and a retried poll once', async () => {
  await using lossy = await startStores(true);
  await lossy.deviceFlow.put('code', terminal, noon);
  expect(await lossy.deviceFlow.findByUserCode('code', 5)).toMatchObject({ tries: 2 });
  await lossy.deviceFlow.notePoll('device', noon);
  expect(await lossy.deviceFlow.find('device')).toMatchObject({ polledAt: noon });
});

test('an unknown user code costs a read, and no write', async () => {
  await using sound = await startStores(false);
  expect(await sound.deviceFlow.findByUserCode('unknown', 5)).toBeUndefined();
  expect(sound.operations).toMatchObject([{ name: 'GetItem' }]);
});
