import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createKeyring, type Keyring } from '../../../lambda/accounts/keyring.ts';
import { hashKey } from '../../../lambda/identity/keys.ts';
import { createKeyStore, type KeyStore } from '../../../lambda/tables/keys.ts';
import { createMemberStore, type MemberStore } from '../../../lambda/tables/members.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type StoppedTimers, stopTimers } from '../../support/stop-timers.ts';

const member = `0x${'a'.repeat(40)}`;

describe('a wallet’s keys', () => {
  let database: TestDynamoDb;
  let keys: KeyStore;
  let members: MemberStore;
  let keyring: Keyring;
  let time: number;
  let timers: StoppedTimers;

  beforeEach(async () => {
    time = Date.UTC(2026, 10, 23);
    database = await startTestDynamoDb();
    keys = createKeyStore(database.callDynamoDb, database.keysTable);
    members = createMemberStore(database.callDynamoDb, database.keysTable);
    keyring = createKeyring({ oidcKeys: 20, oidcKeyDays: 30, keys, members, now: () => time });
    // Parallel requests would mistake their own queue for a slow store.
    timers = stopTimers();
  });
  afterEach(async () => {
    timers[Symbol.dispose]();
    await database.close();
  });

  const issueFive = async () => {
    const issued = [];
    for (let count = 0; count < 5; count += 1) {
      time += 1;
      issued.push(await keyring.issue(member));
    }
    return issued;
  };
  const tooMany = expect.objectContaining({ shownCode: 'too_many_keys', status: 409 });

  test('are five at most, the newest first, and separate from another wallet’s', async () => {
    const issued = await issueFive();
    await expect(keyring.issue(member)).rejects.toEqual(tooMany);
    expect((await keyring.list(member)).map(({ id }) => id)).toEqual(issued.map(({ record }) => record.id).reverse());
    const other = `0x${'b'.repeat(40)}`;
    await keyring.issue(other);
    // Their origin shows in the operator's lists.
    expect(await keys.list(other)).toMatchObject([{ label: 'issued at /cli' }]);
  });

  test('are five at most, however many are requested at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => keyring.issue(member)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await keys.list(member)).toHaveLength(5);
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('make room when one is revoked, also by an operator, or has expired', async () => {
    const [first, second, third] = await issueFive();
    await keyring.revoke(member, first?.record.id ?? '');
    await keyring.issue(member);
    await expect(keyring.issue(member)).rejects.toEqual(tooMany);
    // Bypassing this module, as the operator's command does.
    await keys.revoke(second?.record.id ?? '', time);
    await keyring.issue(member);
    await expect(keyring.issue(member)).rejects.toEqual(tooMany);
    await keys.put(hashKey(third?.key ?? ''), {
      ...(third?.record ?? { id: '', member, createdAt: 0 }),
      expiresAt: time,
    });
    await keyring.issue(member);
    await expect(keyring.issue(member)).rejects.toEqual(tooMany);
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('a slot stays taken while its key is being written, and is freed if the key never comes', async () => {
    await members.takeSlot(member, { hash: 'never-stored', takenAt: time }, 5);
    for (let count = 0; count < 4; count += 1) await keyring.issue(member);
    await expect(keyring.issue(member)).rejects.toEqual(tooMany);
    expect(await keyring.list(member)).toHaveLength(4);
    time += 60_000;
    await keyring.issue(member);
    expect(await keyring.list(member)).toHaveLength(5);
  });

  test('a repeated write takes the same slot, even the last', async () => {
    for (let count = 1; count <= 5; count += 1) {
      const slot = { hash: `hash${count}`, takenAt: time };
      expect(await members.takeSlot(member, slot, 5)).toBe(true);
      expect(await members.takeSlot(member, slot, 5)).toBe(true);
    }
    expect(await members.readSlots(member)).toHaveLength(5);
  });

  test('a repeated write that takes a challenge succeeds, another does not', async () => {
    await members.putChallenge('nonce', { digest: 'd', purpose: 'link', expiresAt: time });
    const taken = (token: string, now = time - 1) =>
      members.takeChallenge('nonce', { digest: 'd', purpose: 'link' }, now, token);
    expect(await taken('late', time)).toBe(false);
    expect([await taken('one'), await taken('one'), await taken('two')]).toEqual([true, true, false]);
  });

  test('a missing key, or another wallet’s, is not found for revoking', async () => {
    const { record } = await keyring.issue(member);
    const notFound = expect.objectContaining({ code: 'not_found' });
    await expect(keyring.revoke(member, 'key_none')).rejects.toEqual(notFound);
    await expect(keyring.revoke(`0x${'b'.repeat(40)}`, record.id)).rejects.toEqual(notFound);
    await keyring.revoke(member, record.id);
    await expect(keyring.revoke(member, record.id)).rejects.toEqual(notFound);
  });

  test('revoking ends only when there is room again', async () => {
    const { record } = await keyring.issue(member);
    const lost = new Error('the answer was lost');
    const freeSlots = () => Promise.reject(lost);
    const losing = createKeyring({
      oidcKeys: 20,
      oidcKeyDays: 30,
      keys,
      members: { ...members, freeSlots },
      now: () => time,
    });
    await expect(losing.revoke(member, record.id)).rejects.toBe(lost);
    expect(await keyring.list(member)).toEqual([]);
  });
});
