import type { DeviceFlowStore, PendingDevice } from '../sign-in.ts';
import type { Documents } from './documents.ts';
import { createItems, isFree } from './items.ts';

/**
 * Pending devices by the hash of their device code. The hash of the user code, which a person types, points to the device:
 *
 *   device#<hash>  { networkId, askedAt, expiresAt, tries, polledAt, decision, decidedAt, approvedBy, takenBy }
 *   user#<hash>    { device, expiresAt }
 */
export function createDeviceFlowStore(documents: Documents, tableName: string): DeviceFlowStore {
  const { put, read, update, tryUpdate } = createItems(documents, tableName);
  /** The cast is safe because only this folder writes the table. */
  const toPending = (device: string, item: object | undefined) => item && ({ ...item, device } as PendingDevice);

  return {
    async put(userCode, { device, ...pending }, now) {
      await put(`device#${device}`, pending, pending.expiresAt);
      return tryUpdate(`user#${userCode}`, {
        UpdateExpression: 'SET device = :device, expiresAt = :expiresAt, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR device = :device',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':device': device,
          ':now': now,
          ':expiresAt': pending.expiresAt,
          ':ttl': Math.ceil(pending.expiresAt / 1000),
        },
      });
    },

    async findByUserCode(userCode, mostTries) {
      const device = (await read(`user#${userCode}`))?.device;
      if (typeof device !== 'string') return undefined;
      const found = await update(`device#${device}`, {
        UpdateExpression: 'ADD tries :one',
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(tries) OR tries < :most)',
        ExpressionAttributeValues: { ':one': 1, ':most': mostTries },
      });
      return toPending(device, found);
    },

    find: async (device) => toPending(device, await read(`device#${device}`)),

    async notePoll(device, now) {
      await update(`device#${device}`, {
        UpdateExpression: 'SET polledAt = :now',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': now },
      });
    },

    decide: (device, approvedBy, now, token) =>
      tryUpdate(`device#${device}`, {
        UpdateExpression: `SET decision = :decision, decidedAt = :now, decidedBy = :token${approvedBy ? ', approvedBy = :member' : ''}`,
        ConditionExpression: isFree('decidedBy'),
        ExpressionAttributeValues: {
          ':decision': approvedBy ? 'approved' : 'denied',
          ':member': approvedBy,
          ':token': token,
          ':now': now,
        },
      }),

    take: (device, now, token) =>
      tryUpdate(`device#${device}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression: isFree('takenBy'),
        ExpressionAttributeValues: { ':token': token, ':now': now },
      }),
  };
}
