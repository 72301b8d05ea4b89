import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../lambda/identity/issued-keys.ts';
import { createToken } from '../../../lambda/store/counters.ts';
import { newName, stores, type TestStore } from '../../support/stores.ts';

/* What every store keeps to, whatever it is made of. */

const noon = Date.UTC(2026, 10, 21, 12);
const hour = 3_600_000;

describe.each(Object.entries(stores))('%s', (_, open) => {
  let opened: TestStore;
  beforeAll(async () => {
    opened = await open(() => noon);
  });
  afterAll(async () => opened[Symbol.asyncDispose]());

  describe('keys', () => {
    const newKey = (more: Partial<KeyRecord> = {}): KeyRecord => ({
      ...{ id: `key_${newName()}`, member: newName(), createdAt: 1000 },
      ...more,
    });
    const full: Partial<KeyRecord> = {
      ...({
        label: 'laptop',
        limit: 7,
        budget: 20_000_000,
        budgetWindow: 'month',
        models: ['svc'],
        burst: 60,
      } as const),
      ...({ expiresAt: 5000, renewable: true, revokedAt: 4000 } as const),
    };

    test('are found by their hash and their id as they were put, once one was issued', async () => {
      const { keys } = opened.adminStore;
      expect(await keys.anyKeyIssued()).toBe(false);
      const [plain, rich] = [newKey(), newKey(full)];
      await keys.put('hash of plain', { ...plain, label: undefined });
      await keys.put('hash of rich', rich);
      expect(await keys.findKey('hash of plain')).toEqual(plain);
      expect(await opened.store.keys.findKey('hash of rich')).toEqual(rich);
      expect(await keys.findById(rich.id)).toEqual(rich);
      expect([await keys.findKey('other'), await keys.findById('key_other')]).toEqual([undefined, undefined]);
      expect([await keys.anyKeyIssued(), await opened.store.keys.anyKeyIssued()]).toEqual([true, true]);
    });

    test('are listed, those of one member the newest first', async () => {
      const { keys } = opened.adminStore;
      const member = newName();
      const own = [3, 1, 2].map((createdAt) => newKey({ member, createdAt }));
      for (const key of own) await keys.put(`hash of ${key.id}`, key);
      await keys.link(newName(), { member, linkedAt: noon, expiresAt: noon + hour });
      expect((await keys.list(member)).map(({ createdAt }) => createdAt)).toEqual([3, 2, 1]);
      expect(await keys.list()).toEqual(expect.arrayContaining(own));
    });

    test('are changed in what is named and nothing else, and keep the date of their revocation', async () => {
      const { keys } = opened.adminStore;
      const { revokedAt: _, ...rest } = full;
      const key = newKey(rest);
      await keys.put(`hash of ${key.id}`, key);
      expect(await keys.change(key.id, { limit: 0 })).toEqual({ ...key, limit: 0 });
      const { budget, budgetWindow, renewable, ...left } = key;
      const removed = { budget: undefined, budgetWindow: undefined, renewable: undefined };
      expect(await keys.change(key.id, { ...removed, models: ['a', 'b'] })).toEqual({
        ...left,
        limit: 0,
        models: ['a', 'b'],
      });
      expect(await keys.change('key_other', { limit: 1 })).toBeUndefined();
      expect(await keys.revoke(key.id, 2000)).toMatchObject({ revokedAt: 2000 });
      expect(await keys.revoke(key.id, 3000)).toMatchObject({ revokedAt: 2000 });
      expect(await keys.revoke('key_other', 2000)).toBeUndefined();
    });

    test('have links of networks beside them, of which the last counts', async () => {
      const { keys } = opened.adminStore;
      const network = newName();
      const link = (member: string) => ({ member, linkedAt: noon, expiresAt: noon + hour });
      await keys.link(network, link('ada'));
      await keys.link(network, link('eve'));
      expect([await keys.findLink(network), await opened.store.keys.findLink(network)]).toEqual([
        link('eve'),
        link('eve'),
      ]);
      expect([await keys.unlink(network), await keys.unlink(network)]).toEqual([link('eve'), undefined]);
      expect(await keys.findLink(network)).toBeUndefined();
    });
  });

  describe('members', () => {
    const [mine, other] = [createToken(), createToken()];

    test('take a challenge once, in time, for what it was made', async () => {
      const { putChallenge, takeChallenge } = opened.adminStore.members;
      const nonce = newName();
      const challenge = { digest: 'digest', purpose: 'link' };
      await putChallenge(nonce, { ...challenge, expiresAt: noon + hour });
      expect(await takeChallenge(newName(), challenge, noon, mine)).toBe(false);
      expect(await takeChallenge(nonce, { ...challenge, purpose: 'manage' }, noon, mine)).toBe(false);
      expect(await takeChallenge(nonce, { ...challenge, digest: 'another' }, noon, mine)).toBe(false);
      expect(await takeChallenge(nonce, challenge, noon + hour, mine)).toBe(false);
      const taken = [mine, mine, other].map((token) => takeChallenge(nonce, challenge, noon, token));
      expect(await Promise.all(taken)).toEqual([true, true, false]);
    });

    test('are signed in by sessions, and signed out', async () => {
      const { putSession, findSession, signOut, wasSignedOut } = opened.adminStore.members;
      const [hash, member] = [newName(), newName()];
      const session = { member, expiresAt: noon };
      await putSession(hash, session);
      expect(await findSession(hash)).toMatchObject(session);
      await putSession(hash, { ...session, purpose: 'terminal' });
      expect(await findSession(hash)).toMatchObject({ ...session, purpose: 'terminal' });
      expect(await findSession(newName())).toBeUndefined();
      expect(await wasSignedOut(member, 0)).toBe(false);
      await signOut(member, noon);
      expect([await wasSignedOut(member, noon), await wasSignedOut(member, noon + 1)]).toEqual([true, false]);
    });

    test('have as many places for keys as they may have, whoever asks at once', async () => {
      const { takeSlot, freeSlots, readSlots } = opened.adminStore.members;
      const member = newName();
      const slots = Array.from({ length: 5 }, (_, index) => ({ hash: `hash${index}`, takenAt: noon + index }));
      const taken = await Promise.all(slots.map((slot) => takeSlot(member, slot, 3)));
      expect(taken.filter(Boolean)).toHaveLength(3);
      const held = await readSlots(member);
      expect(held).toHaveLength(3);
      expect(await takeSlot(member, held[0] ?? (slots[0] as never), 3)).toBe(true);
      await freeSlots(member, held.slice(0, 2));
      await freeSlots(member, []);
      expect(await readSlots(member)).toEqual(held.slice(2));
      expect(await takeSlot(member, slots[4] as never, 3)).toBe(true);
    });

    test('renew and revoke what is their own, as long as it lives', async () => {
      const { keys, members } = opened.adminStore;
      const [member, hash] = [newName(), newName()];
      const key = { id: newName(), member, createdAt: 0, expiresAt: noon + hour, renewable: true } as const;
      await keys.put(hash, key);
      const end = async () => (await keys.findKey(hash))?.expiresAt;
      await members.renewKey(hash, 'eve', noon + 2 * hour, noon);
      await members.renewKey(hash, member, noon + 2 * hour, noon + hour);
      expect(await end()).toBe(noon + hour);
      await members.renewKey(hash, member, noon + 2 * hour, noon);
      expect(await end()).toBe(noon + 2 * hour);
      await members.revokeKey(hash, 'eve', noon);
      expect(await keys.findKey(hash)).not.toHaveProperty('revokedAt');
      await members.revokeKey(hash, member, noon);
      await members.revokeKey(hash, member, noon + 1);
      await members.renewKey(hash, member, noon + 3 * hour, noon);
      expect(await keys.findKey(hash)).toEqual({ ...key, expiresAt: noon + 2 * hour, revokedAt: noon });
    });
  });

  describe('terminals', () => {
    const [mine, other] = [createToken(), createToken()];
    const newTerminal = () => ({ device: newName(), networkId: newName(), askedAt: noon, expiresAt: noon + hour });

    test('are found by a code that no other has while it waits, a few times', async () => {
      const { put, find, findByUserCode } = opened.adminStore.deviceFlow;
      const [one, two] = [newTerminal(), newTerminal()];
      const code = newName();
      expect([await put(code, one, noon), await put(code, two, noon), await put(code, one, noon)]).toEqual([
        true,
        false,
        true,
      ]);
      expect(await find(one.device)).toMatchObject(one);
      expect(await find(newName())).toBeUndefined();
      expect(await findByUserCode(newName(), 2)).toBeUndefined();
      const tries = [await findByUserCode(code, 2), await findByUserCode(code, 2), await findByUserCode(code, 2)];
      expect(tries).toEqual([expect.objectContaining(one), expect.objectContaining(one), undefined]);
      expect(await put(code, two, noon + hour)).toBe(true);
      expect(await findByUserCode(code, 2)).toMatchObject(two);
    });

    test('are let in or not by the first who decides, in time, and take their key once', async () => {
      const { put, find, decide, take, notePoll } = opened.adminStore.deviceFlow;
      const [one, two] = [newTerminal(), newTerminal()];
      for (const terminal of [one, two]) await put(newName(), terminal, noon);
      await notePoll(one.device, noon + 1);
      await notePoll(newName(), noon + 1);
      expect(await decide(one.device, 'ada', noon + hour, mine)).toBe(false);
      expect(await decide(newName(), 'ada', noon, mine)).toBe(false);
      const decisions = [await decide(one.device, 'ada', noon, mine), await decide(one.device, 'eve', noon, other)];
      expect([...decisions, await decide(one.device, 'ada', noon, mine)]).toEqual([true, false, true]);
      const decided = { decision: 'approved', approvedBy: 'ada', decidedAt: noon, polledAt: noon + 1 };
      expect(await find(one.device)).toMatchObject(decided);
      expect(await decide(two.device, undefined, noon, mine)).toBe(true);
      expect(await find(two.device)).toMatchObject({ decision: 'denied' });
      expect(await take(one.device, noon + hour, mine)).toBe(false);
      const taken = [await take(one.device, noon, mine), await take(one.device, noon, mine)];
      expect([...taken, await take(one.device, noon, other)]).toEqual([true, true, false]);
    });
  });
});
