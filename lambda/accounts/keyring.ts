import { randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type IssuedKey, issueKey, type KeyRecord, stateOf } from '../identity/issued-keys.ts';
import { isWallet } from '../identity/member.ts';
import type { AccountsConfig } from '../settings/config.ts';
import type { MemberStore, Slot } from '../store/sign-in.ts';
import type { KeyStore } from '../store/store.ts';
import { accountsError, badRequest, notSignedIn } from './page-errors.ts';
import type { Signer } from './page-request.ts';

export type Keyring = ReturnType<typeof createKeyring>;

interface KeyDetails {
  readonly label?: string | undefined;
  readonly expiresAt?: number;
}

interface Dependencies extends Pick<AccountsConfig['accounts'], 'oidcKeys' | 'oidcKeyDays'> {
  readonly keys: Pick<KeyStore, 'put' | 'findKey'>;
  readonly members: MemberStore;
  readonly now: () => number;
}

interface Held {
  readonly slot: Slot;
  readonly record: KeyRecord | undefined;
}

/** The label that operators see if the owner has chosen none. */
export const unlabelled = 'issued at /cli';

/** A slot is taken before its key is stored, so a missing key may still appear for this long, in milliseconds. */
const storingTime = 60_000;

/**
 * Issues, lists and revokes keys. Each key first takes one of its member's slots, in a single conditional write. Slots of keys that
 * an operator has revoked, or that were never stored, are freed lazily.
 */
export function createKeyring({ keys, members, oidcKeys, oidcKeyDays, now }: Dependencies) {
  /** How many live keys a member may have. */
  const mostOf = (member: string): number => (isWallet(member) ? 5 : oidcKeys);
  /** When a new or renewed key expires. Those of wallets don't. */
  const endOfLife = (member: string): number | undefined =>
    isWallet(member) ? undefined : now() + oidcKeyDays * 86_400_000;

  const tooManyKeys = (member: string): GatewayError => {
    const message = `You have ${mostOf(member)} keys, which is as many as you may have. Revoke one to make room.`;
    return accountsError('too_many_keys', message);
  };
  const readHeld = async (member: string): Promise<Held[]> => {
    const slots = await members.readSlots(member);
    return Promise.all(slots.map(async (slot) => ({ slot, record: await keys.findKey(slot.hash) })));
  };
  const isLive = (record: KeyRecord): boolean => stateOf(record, now()) === 'live';
  const isDead = ({ slot, record }: Held): boolean => (record ? !isLive(record) : slot.takenAt + storingTime <= now());

  const takeSlot = async (member: string, hash: string): Promise<void> => {
    const slot = { hash, takenAt: now() };
    if (await members.takeSlot(member, slot, mostOf(member))) return;
    const dead = (await readHeld(member)).filter(isDead).map((held) => held.slot);
    await members.freeSlots(member, dead);
    if (dead.length > 0 && (await members.takeSlot(member, slot, mostOf(member)))) return;
    throw tooManyKeys(member);
  };

  const findHeld = async (member: string, id: string): Promise<Held> => {
    const held = (await readHeld(member)).find(({ record }) => record?.id === id && isLive(record));
    if (held) return held;
    throw new GatewayError('not_found', 'You have no such key; it may be revoked already.');
  };

  return {
    mostOf,

    /** The live keys, newest first. */
    async list(member: string): Promise<readonly KeyRecord[]> {
      const records = (await readHeld(member)).flatMap(({ record }) => (record && isLive(record) ? [record] : []));
      return records.toSorted((a, b) => b.createdAt - a.createdAt);
    },

    /** Throws `too_many_keys` if all slots are taken. Writes nothing. */
    async requireFreeSlot(member: string): Promise<void> {
      const taken = (await readHeld(member)).filter((held) => !isDead(held));
      if (taken.length >= mostOf(member)) throw tooManyKeys(member);
    },

    /**
     * Issues a key. Throws `too_many_keys` if all slots are taken, which holds under concurrency too, and `invalid_session` if the
     * member was signed out meanwhile.
     */
    issue({ member, signedInAt }: Signer, { label = unlabelled, expiresAt }: KeyDetails = {}): Promise<IssuedKey> {
      const put = async (hash: string, record: KeyRecord) => {
        await takeSlot(member, hash);
        await keys.put(hash, record);
        // Signing a member out also revokes all keys that exist by then. This one may have been stored too late for that.
        if (!(await members.wasSignedOut(member, signedInAt))) return;
        await members.revokeKey(hash, member, now());
        throw notSignedIn();
      };
      const ends = [expiresAt, endOfLife(member)].filter((time) => time !== undefined);
      const earliest = ends.length > 0 ? Math.min(...ends) : undefined;
      const renewable = expiresAt === undefined && earliest !== undefined;
      const request = { member, label, expiresAt: earliest, ...(renewable && { renewable }) };
      return issueKey({ put }, request, { now, randomBytes });
    },

    async revoke(member: string, id: string): Promise<void> {
      const { slot } = await findHeld(member, id);
      await members.revokeKey(slot.hash, member, now());
      await members.freeSlots(member, [slot]);
    },

    /** Restarts the lifetime of a live key. */
    async renew(member: string, id: string): Promise<void> {
      const { slot, record } = await findHeld(member, id);
      const expiresAt = endOfLife(member);
      if (expiresAt === undefined || !record?.renewable)
        throw badRequest('The end of this key is fixed: make a new one.');
      await members.renewKey(slot.hash, member, expiresAt, now());
    },
  };
}
