import { keyOf } from '../dynamodb/keys.ts';
import type { Documents } from './documents.ts';
import { createItems, isFree } from './items.ts';

/** A message that waits for its signature. Times are epoch milliseconds. */
interface Challenge {
  /** The hash of the message. */
  readonly digest: string;
  readonly purpose: string;
  readonly expiresAt: number;
}

/** To let a terminal in, or for everything else. */
export type SessionPurpose = 'terminal' | 'account';

/** A person who is signed in for a while. */
interface Session {
  readonly member: string;
  /** What alone the member has signed for; absent where that was not said. */
  readonly purpose?: SessionPurpose;
  readonly expiresAt: number;
}

/** A live key's place among those of its member, taken before the key is stored. */
export interface Slot {
  readonly hash: string;
  readonly takenAt: number;
}

export type MemberStore = ReturnType<typeof createMemberStore>;

/** Members' sign-ins, sessions and live keys, in the keys table. */
export function createMemberStore(documents: Documents, tableName: string) {
  const table = createItems(documents, tableName);

  return {
    putChallenge: (nonce: string, challenge: Challenge) =>
      table.put(`challenge#${nonce}`, challenge, challenge.expiresAt),

    /** Takes a waiting challenge; false if there is none. */
    takeChallenge: (nonce: string, { digest, purpose }: Omit<Challenge, 'expiresAt'>, now: number, token: string) =>
      table.tryUpdate(`challenge#${nonce}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression: `digest = :digest AND purpose = :purpose AND ${isFree('takenBy')}`,
        ExpressionAttributeValues: { ':token': token, ':digest': digest, ':purpose': purpose, ':now': now },
      }),

    putSession: (hash: string, session: Session) => table.put(`session#${hash}`, session, session.expiresAt),

    /** Only this folder writes the table, so the items have its types. */
    findSession: async (hash: string) => (await table.read(`session#${hash}`)) as Session | undefined,

    /** Ends what the member has begun by signing in: sessions, and terminals that were let in and have no key yet. */
    async signOut(member: string, now: number): Promise<void> {
      await table.update(`wallet#${member}`, {
        UpdateExpression: 'SET signedOutAt = :now',
        ExpressionAttributeValues: { ':now': now },
      });
    },

    /** Whether the member was signed out at this time or later. */
    async wasSignedOut(member: string, since: number): Promise<boolean> {
      const signedOutAt = (await table.read(`wallet#${member}`))?.signedOutAt;
      return typeof signedOutAt === 'number' && signedOutAt >= since;
    },

    /**
     * False if the member has as many keys as it may have. A repeated write may find its own slot and no other free: adding to a set
     * twice changes nothing.
     */
    takeSlot: (member: string, slot: Slot, limit: number) =>
      table.tryUpdate(`wallet#${member}`, {
        UpdateExpression: 'ADD live :slots',
        ConditionExpression: 'attribute_not_exists(live) OR size(live) < :limit OR contains(live, :slot)',
        ExpressionAttributeValues: { ':slots': new Set([toText(slot)]), ':slot': toText(slot), ':limit': limit },
      }),

    async freeSlots(member: string, slots: readonly Slot[]): Promise<void> {
      if (slots.length === 0) return;
      await table.update(`wallet#${member}`, {
        UpdateExpression: 'DELETE live :slots',
        ExpressionAttributeValues: { ':slots': new Set(slots.map(toText)) },
      });
    },

    async readSlots(member: string): Promise<readonly Slot[]> {
      const live = (await table.read(`wallet#${member}`))?.live;
      return live instanceof Set ? [...live].map(fromText) : [];
    },

    /** Gives a key of this member another end, unless it has ended already or its end is fixed. */
    async renewKey(hash: string, member: string, expiresAt: number, now: number): Promise<void> {
      await table.update(keyOf(hash), {
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression:
          '#member = :member AND renewable = :true AND attribute_not_exists(revokedAt) AND expiresAt > :now',
        ExpressionAttributeNames: { '#member': 'member' },
        ExpressionAttributeValues: { ':expiresAt': expiresAt, ':member': member, ':now': now, ':true': true },
      });
    },

    /** Revokes a key of this member; one that was revoked before keeps its first date. */
    async revokeKey(hash: string, member: string, now: number): Promise<void> {
      await table.update(keyOf(hash), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
        ConditionExpression: '#member = :member',
        ExpressionAttributeNames: { '#member': 'member' },
        ExpressionAttributeValues: { ':now': now, ':member': member },
      });
    },
  };
}

const toText = ({ hash, takenAt }: Slot): string => `${hash}@${takenAt}`;

function fromText(text: string): Slot {
  const [hash = '', takenAt] = text.split('@');
  return { hash, takenAt: Number(takenAt) };
}
