import type { Documents } from './documents.ts';
import { createItems, isFree } from './items.ts';

/** A terminal that waits to be signed in. Times are epoch milliseconds. */
export interface WaitingTerminal {
  /** The hashed device code, which only the terminal knows. */
  readonly device: string;
  /** The network that it asked from. */
  readonly networkId: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** What a person has decided; undefined until then. */
  readonly decision?: 'approved' | 'denied';
  readonly decidedAt?: number;
  /** The member who has approved it. */
  readonly approvedBy?: string;
  /** When it last asked for its key. */
  readonly polledAt?: number;
}

export type TerminalStore = ReturnType<typeof createTerminalStore>;

/**
 * The terminals that wait, by the hash of the device code; and by that of the user code, which a person types, the way to them:
 *
 *   device#<hash>  { networkId, askedAt, expiresAt, tries, polledAt, decision, decidedAt, approvedBy, takenBy }
 *   user#<hash>    { device, expiresAt }
 */
export function createTerminalStore(documents: Documents, tableName: string) {
  const { put, read, update, tryUpdate } = createItems(documents, tableName);
  /** Only this folder writes the table, so the items have its types. */
  const toTerminal = (device: string, item: object | undefined) => item && ({ ...item, device } as WaitingTerminal);

  return {
    /** False if the user code belongs to another terminal that waits. */
    async put(userCode: string, { device, ...terminal }: WaitingTerminal, now: number): Promise<boolean> {
      await put(`device#${device}`, terminal, terminal.expiresAt);
      return tryUpdate(`user#${userCode}`, {
        UpdateExpression: 'SET device = :device, expiresAt = :expiresAt, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR device = :device',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':device': device,
          ':now': now,
          ':expiresAt': terminal.expiresAt,
          ':ttl': Math.ceil(terminal.expiresAt / 1000),
        },
      });
    },

    /** Finds the terminal with this user code, and counts the try; undefined if there is none, or it was tried too often. */
    async findByUserCode(userCode: string, mostTries: number): Promise<WaitingTerminal | undefined> {
      const device = (await read(`user#${userCode}`))?.device;
      if (typeof device !== 'string') return undefined;
      const found = await update(`device#${device}`, {
        UpdateExpression: 'ADD tries :one',
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(tries) OR tries < :most)',
        ExpressionAttributeValues: { ':one': 1, ':most': mostTries },
      });
      return toTerminal(device, found);
    },

    find: async (device: string): Promise<WaitingTerminal | undefined> =>
      toTerminal(device, await read(`device#${device}`)),

    /** Notes when the terminal asked for its key. */
    async notePoll(device: string, now: number): Promise<void> {
      await update(`device#${device}`, {
        UpdateExpression: 'SET polledAt = :now',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': now },
      });
    },

    /** Whether the decision was taken, which is a refusal if nobody approves: the first one counts. */
    decide: (device: string, approvedBy: string | undefined, now: number, token: string): Promise<boolean> =>
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

    /** Takes the key that was approved: true for one caller only. */
    take: (device: string, now: number, token: string): Promise<boolean> =>
      tryUpdate(`device#${device}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression: isFree('takenBy'),
        ExpressionAttributeValues: { ':token': token, ':now': now },
      }),
  };
}
