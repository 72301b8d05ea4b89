import type { CallService } from '../aws/call-service.ts';
import { isConditionFailure } from '../aws/repeat.ts';
import { createItems } from './items.ts';
import { keyOf } from './keys.ts';

/** A message that waits for its signature. Times are epoch milliseconds. */
interface Challenge {
  /** The hash of the message. */
  readonly digest: string;
  readonly purpose: string;
  readonly expiresAt: number;
}

/** A person who is signed in for a while. */
interface Session {
  readonly member: string;
  readonly expiresAt: number;
}

/** A live key's place among those of its member, taken before the key is stored. */
export interface Slot {
  readonly hash: string;
  readonly takenAt: number;
}

export interface MemberStore {
  putChallenge(nonce: string, challenge: Challenge): Promise<void>;
  /** Takes a waiting challenge; false if there is none. A repeated write with the same token counts as the same taking. */
  takeChallenge(nonce: string, challenge: Omit<Challenge, 'expiresAt'>, now: number, token: string): Promise<boolean>;
  putSession(hash: string, session: Session): Promise<void>;
  findSession(hash: string): Promise<Session | undefined>;
  /** Ends what the member has begun by signing in: sessions, and terminals that were let in and have no key yet. */
  signOut(member: string, now: number): Promise<void>;
  /** Whether the member was signed out at this time or later. */
  wasSignedOut(member: string, since: number): Promise<boolean>;
  /** False if the member has as many keys as it may have. */
  takeSlot(member: string, slot: Slot, limit: number): Promise<boolean>;
  freeSlots(member: string, slots: readonly Slot[]): Promise<void>;
  readSlots(member: string): Promise<readonly Slot[]>;
  /** Gives a key of this member another end, unless it has ended already. */
  renewKey(hash: string, member: string, expiresAt: number, now: number): Promise<void>;
  /** Revokes a key of this member; one that was revoked before keeps its first date. */
  revokeKey(hash: string, member: string, now: number): Promise<void>;
}

/** Members' sign-ins, sessions and live keys, in the keys table. */
export function createMemberStore(callDynamoDb: CallService, tableName: string): MemberStore {
  const table = createItems(callDynamoDb, tableName);
  const update = (...input: Parameters<typeof table.update>) => conditionHolds(table.update(...input));

  return {
    putChallenge: (nonce, challenge) => table.put(`challenge#${nonce}`, challenge, challenge.expiresAt),

    takeChallenge: (nonce, { digest, purpose }, now, token) =>
      update(`challenge#${nonce}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression:
          'digest = :digest AND purpose = :purpose AND expiresAt > :now AND (attribute_not_exists(takenBy) OR takenBy = :token)',
        ExpressionAttributeValues: { ':token': token, ':digest': digest, ':purpose': purpose, ':now': now },
      }),

    putSession: (hash, session) => table.put(`session#${hash}`, session, session.expiresAt),

    async findSession(hash) {
      const item = await table.read(`session#${hash}`);
      return item && { member: String(item.member), expiresAt: Number(item.expiresAt) };
    },

    async signOut(member, now) {
      await update(`wallet#${member}`, {
        UpdateExpression: 'SET signedOutAt = :now',
        ExpressionAttributeValues: { ':now': now },
      });
    },

    async wasSignedOut(member, since) {
      const signedOutAt = (await table.read(`wallet#${member}`))?.signedOutAt;
      return typeof signedOutAt === 'number' && signedOutAt >= since;
    },

    // A repeated write may find its own slot and no other free. Adding to a set twice changes nothing.
    takeSlot: (member, slot, limit) =>
      update(`wallet#${member}`, {
        UpdateExpression: 'ADD live :slots',
        ConditionExpression: 'attribute_not_exists(live) OR size(live) < :limit OR contains(live, :slot)',
        ExpressionAttributeValues: { ':slots': new Set([toText(slot)]), ':slot': toText(slot), ':limit': limit },
      }),

    async freeSlots(member, slots) {
      if (slots.length === 0) return;
      await update(`wallet#${member}`, {
        UpdateExpression: 'DELETE live :slots',
        ExpressionAttributeValues: { ':slots': new Set(slots.map(toText)) },
      });
    },

    async readSlots(member) {
      const live = (await table.read(`wallet#${member}`))?.live;
      return live instanceof Set ? [...live].map(fromText) : [];
    },

    async renewKey(hash, member, expiresAt, now) {
      await update(keyOf(hash), {
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression: '#member = :member AND attribute_not_exists(revokedAt) AND expiresAt > :now',
        ExpressionAttributeNames: { '#member': 'member' },
        ExpressionAttributeValues: { ':expiresAt': expiresAt, ':member': member, ':now': now },
      });
    },

    async revokeKey(hash, member, now) {
      await update(keyOf(hash), {
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
        ConditionExpression: '#member = :member',
        ExpressionAttributeNames: { '#member': 'member' },
        ExpressionAttributeValues: { ':now': now, ':member': member },
      });
    },
  };
}

async function conditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

const toText = ({ hash, takenAt }: Slot): string => `${hash}@${takenAt}`;

function fromText(text: string): Slot {
  const [hash = '', takenAt] = text.split('@');
  return { hash, takenAt: Number(takenAt) };
}
