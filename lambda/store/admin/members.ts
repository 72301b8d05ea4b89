import { keyOf } from '../dynamodb/keys.ts';
import type { MemberStore, Session, Slot } from '../sign-in.ts';
import type { Documents } from './documents.ts';
import { createItems, isFree } from './items.ts';

export function createMemberStore(documents: Documents, tableName: string): MemberStore {
  const table = createItems(documents, tableName);

  return {
    putChallenge: (nonce, challenge) => table.put(`challenge#${nonce}`, challenge, challenge.expiresAt),

    takeChallenge: (nonce, { digest, purpose }, now, token) =>
      table.tryUpdate(`challenge#${nonce}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression: `digest = :digest AND purpose = :purpose AND ${isFree('takenBy')}`,
        ExpressionAttributeValues: { ':token': token, ':digest': digest, ':purpose': purpose, ':now': now },
      }),

    putSession: (hash, session) => table.put(`session#${hash}`, session, session.expiresAt),

    /** The cast is safe because only this folder writes the table. */
    findSession: async (hash) => (await table.read(`session#${hash}`)) as Session | undefined,

    async signOut(member, now) {
      await table.update(`wallet#${member}`, {
        UpdateExpression: 'SET signedOutAt = :now',
        ExpressionAttributeValues: { ':now': now },
      });
    },

    async wasSignedOut(member, since) {
      const signedOutAt = (await table.read(`wallet#${member}`))?.signedOutAt;
      return typeof signedOutAt === 'number' && signedOutAt >= since;
    },

    // Idempotent: a retry may find its own slot taken and no other free. Adding to a set twice changes nothing.
    takeSlot: (member, slot, limit) =>
      table.tryUpdate(`wallet#${member}`, {
        UpdateExpression: 'ADD live :slots',
        ConditionExpression: 'attribute_not_exists(live) OR size(live) < :limit OR contains(live, :slot)',
        ExpressionAttributeValues: { ':slots': new Set([toText(slot)]), ':slot': toText(slot), ':limit': limit },
      }),

    async freeSlots(member, slots) {
      if (slots.length === 0) return;
      await table.update(`wallet#${member}`, {
        UpdateExpression: 'DELETE live :slots',
        ExpressionAttributeValues: { ':slots': new Set(slots.map(toText)) },
      });
    },

    async readSlots(member) {
      const live = (await table.read(`wallet#${member}`))?.live;
      return live instanceof Set ? [...live].map(fromText) : [];
    },

    async renewKey(hash, member, expiresAt, now) {
      await table.update(keyOf(hash), {
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression:
          '#member = :member AND renewable = :true AND attribute_not_exists(revokedAt) AND expiresAt > :now',
        ExpressionAttributeNames: { '#member': 'member' },
        ExpressionAttributeValues: { ':expiresAt': expiresAt, ':member': member, ':now': now, ':true': true },
      });
    },

    async revokeKey(hash, member, now) {
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
