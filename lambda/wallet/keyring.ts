import { GatewayError } from '../errors.ts';
import { type KeyRecord, stateOf } from '../identity/identity.ts';
import { type IssuedKey, issueKey } from '../identity/keys.ts';
import type { KeyStore } from '../tables/keys.ts';
import type { Slot, WalletStore } from '../tables/wallets.ts';
import { keysPerWallet } from './limits.ts';
import { WalletError } from './request.ts';

export type Keyring = ReturnType<typeof createKeyring>;

interface Dependencies {
  readonly keys: Pick<KeyStore, 'put' | 'findKey'>;
  readonly wallets: WalletStore;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

interface Held {
  readonly slot: Slot;
  readonly record: KeyRecord | undefined;
}

/** For operators, of a key without a label of its owner's. */
export const unlabelled = 'issued at /cli';

/** A slot is taken before its key is stored. For this long, a missing key may still appear. */
const storingTime = 60_000;

/**
 * Issues, lists and revokes the keys of wallets. A member is its wallet's address in lower case. A key first takes one of its wallet's slots in a single conditional write. A slot whose key
 * was revoked by an operator, or never stored, is freed when it is needed.
 */
export function createKeyring({ keys, wallets, now, randomBytes }: Dependencies) {
  const readHeld = async (member: string): Promise<Held[]> => {
    const slots = await wallets.readSlots(member);
    return Promise.all(slots.map(async (slot) => ({ slot, record: await keys.findKey(slot.hash) })));
  };
  const isLive = (record: KeyRecord): boolean => stateOf(record, now()) === 'live';
  const isDead = ({ slot, record }: Held): boolean => (record ? !isLive(record) : slot.takenAt + storingTime <= now());

  const takeSlot = async (member: string, hash: string): Promise<void> => {
    const slot = { hash, takenAt: now() };
    if (await wallets.takeSlot(member, slot, keysPerWallet)) return;
    const dead = (await readHeld(member)).filter(isDead).map((held) => held.slot);
    await wallets.freeSlots(member, dead);
    if (dead.length > 0 && (await wallets.takeSlot(member, slot, keysPerWallet))) return;
    throw tooManyKeys();
  };

  return {
    /** The live keys, newest first. */
    async list(member: string): Promise<readonly KeyRecord[]> {
      const records = (await readHeld(member)).flatMap(({ record }) => (record && isLive(record) ? [record] : []));
      return records.toSorted((a, b) => b.createdAt - a.createdAt);
    },

    /** Throws `too_many_keys` if it has as many keys as it may have. Writes nothing. */
    async requireFreeSlot(member: string): Promise<void> {
      const taken = (await readHeld(member)).filter((held) => !isDead(held));
      if (taken.length >= keysPerWallet) throw tooManyKeys();
    },

    /** Makes a key, or throws `too_many_keys`: never more than five live ones, whatever runs at the same time. */
    issue(member: string, label = unlabelled): Promise<IssuedKey> {
      const put = async (hash: string, record: KeyRecord) => {
        await takeSlot(member, hash);
        await keys.put(hash, record);
      };
      return issueKey({ put }, { member, label }, { now, randomBytes });
    },

    async revoke(member: string, id: string): Promise<void> {
      const held = (await readHeld(member)).find(({ record }) => record?.id === id);
      if (!held) throw new GatewayError('not_found', 'This wallet has no such key; it may be revoked already.');
      await wallets.revokeKey(held.slot.hash, member, now());
      await wallets.freeSlots(member, [held.slot]);
    },
  };
}

function tooManyKeys(): WalletError {
  const message = `This wallet has ${keysPerWallet} keys, which is as many as it may have. Revoke one to make room.`;
  return new WalletError('too_many_keys', message);
}
