import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKeyring, type Keyring } from '../../../lambda/accounts/keyring.ts';
import { hashKey } from '../../../lambda/identity/issued-keys.ts';
import { createKeyStore } from '../../../lambda/store/admin/keys.ts';
import { createMemberStore } from '../../../lambda/store/admin/members.ts';
import type { MemberStore } from '../../../lambda/store/sign-in.ts';
import type { KeyStore } from '../../../lambda/store/store.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type StoppedTimers, stopTimers } from '../../support/stop-timers.ts';

const rules = { oidcKeys: 20, oidcKeyDays: 30, now: () => time };
const other = `0x${'b'.repeat(40)}`;

let database: TestDynamoDb;
let keys: KeyStore;
let members: MemberStore;
let keyring: Keyring;
let timers: StoppedTimers;
let time = Date.UTC(2026, 10, 23);
/** Each test has its own. */
let member: string;
let tests = 0;

beforeAll(async () => {
  database = await startTestDynamoDb();
  keys = createKeyStore(database.documents, database.keysTable);
  members = createMemberStore(database.documents, database.keysTable);
  keyring = createKeyring({ ...rules, keys, members });
});
beforeEach(() => {
  tests += 1;
  member = `0x${String(tests).padStart(40, '0')}`;
  // Parallel requests would mistake their own backlog for a slow store.
  timers = stopTimers();
});
afterEach(() => timers[Symbol.dispose]());
afterAll(() => database.close());

describe('a wallet’s keys', () => {
  const issue = () => {
    time += 1;
    return keyring.issue({ member, signedInAt: time });
  };
  const tooMany = expect.objectContaining({ shownCode: 'too_many_keys', status: 409 });
  const expectFull = () => expect(issue()).rejects.toEqual(tooMany);

  test('are at most five, newest first, and separate from those of another wallet', async () => {
    const ids: string[] = [];
    while (ids.length < 5) ids.unshift((await issue()).record.id);
    await expectFull();
    expect((await keyring.list(member)).map(({ id }) => id)).toEqual(ids);
    await keyring.issue({ member: other, signedInAt: time });
    // Their origin shows in the operator's lists.
    expect(await keys.list(other)).toMatchObject([{ label: 'issued at /cli' }]);
  });

  test('are at most five, however many are requested concurrently', async () => {
    const results = await Promise.allSettled(Array.from({ length: 12 }, issue));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await keys.list(member)).toHaveLength(5);
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('free a slot when one is revoked, even by an operator, or expires', async () => {
    const [first, second, third] = [await issue(), await issue(), await issue()];
    await Promise.all([issue(), issue()]);
    await keyring.revoke(member, first.record.id);
    await issue();
    await expectFull();
    // Bypassing this module, as the operator's command does.
    await keys.revoke(second.record.id, time);
    await issue();
    await expectFull();
    await keys.put(hashKey(third.key), { ...third.record, expiresAt: time });
    await issue();
    await expectFull();
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('keep a slot taken while the key is being stored, and free it if it never is', async () => {
    await members.takeSlot(member, { hash: 'never-stored', takenAt: time }, 5);
    for (let count = 0; count < 4; count += 1) await keyring.issue({ member, signedInAt: time });
    await expect(keyring.issue({ member, signedInAt: time })).rejects.toEqual(tooMany);
    expect(await keyring.list(member)).toHaveLength(4);
    time += 60_000;
    await keyring.issue({ member, signedInAt: time });
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('can be revoked only by their owner, and once', async () => {
    const { record } = await issue();
    const notFound = expect.objectContaining({ code: 'not_found' });
    await expect(keyring.revoke(other, record.id)).rejects.toEqual(notFound);
    await keyring.revoke(member, record.id);
    await expect(keyring.revoke(member, record.id)).rejects.toEqual(notFound);
  });

  test('are revoked before their slot is freed', async () => {
    const { record } = await issue();
    const lost = new Error('the answer was lost');
    const freeSlots = () => Promise.reject(lost);
    const losing = createKeyring({ ...rules, keys, members: { ...members, freeSlots } });
    await expect(losing.revoke(member, record.id)).rejects.toBe(lost);
    expect(await keyring.list(member)).toEqual([]);
  });
});
