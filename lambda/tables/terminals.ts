import type { CallService } from '../aws/call-service.ts';
import { isConditionFailure } from '../aws/repeat.ts';
import { createItems, type Item } from './items.ts';

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
  /** Who has approved it. */
  readonly member?: string;
  /** When it last asked for its key. */
  readonly polledAt?: number;
}

/**
 * The terminals that wait, by the hash of the device code; and by that of the user code, which a person types, the way to them:
 *
 *   device#<hash>  { networkId, askedAt, expiresAt, tries, polledAt, decision, decidedAt, approvedBy, takenBy }
 *   user#<hash>    { device, expiresAt }
 */
export interface TerminalStore {
  /** False if the user code belongs to another terminal that waits. */
  put(userCode: string, terminal: WaitingTerminal, now: number): Promise<boolean>;
  /** Finds the terminal with this user code, and counts the try; undefined if there is none, or it was tried too often. */
  findByUserCode(userCode: string, mostTries: number): Promise<WaitingTerminal | undefined>;
  /** Notes when the terminal asked, and gives it as it was before. */
  poll(device: string, now: number): Promise<WaitingTerminal | undefined>;
  /** Whether the decision was taken: the first one counts. A repeated write with the same token is the same decision. */
  decide(device: string, decision: { approvedBy: string } | 'denied', now: number, token: string): Promise<boolean>;
  /** Takes the key that was approved: true for one caller only. */
  take(device: string, now: number, token: string): Promise<boolean>;
}

export function createTerminalStore(callDynamoDb: CallService, tableName: string): TerminalStore {
  const table = createItems(callDynamoDb, tableName);

  /** The item after the update, or undefined if the condition did not hold. */
  const update = async (...[key, input]: Parameters<typeof table.update>): Promise<Item | undefined> => {
    try {
      return (await table.update(key, { ReturnValues: 'ALL_NEW', ...input })) ?? {};
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  };
  const isWaiting = 'attribute_exists(pk) AND expiresAt > :now';

  return {
    async put(userCode, { device, ...terminal }, now) {
      await table.put(`device#${device}`, terminal, terminal.expiresAt);
      const taken = await update(`user#${userCode}`, {
        UpdateExpression: 'SET device = :device, expiresAt = :expiresAt, #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR device = :device',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: {
          ':device': device,
          ':expiresAt': terminal.expiresAt,
          ':ttl': Math.ceil(terminal.expiresAt / 1000),
          ':now': now,
        },
      });
      return taken !== undefined;
    },

    async findByUserCode(userCode, mostTries) {
      const device = (await table.read(`user#${userCode}`))?.device;
      if (typeof device !== 'string') return undefined;
      const found = await update(`device#${device}`, {
        UpdateExpression: 'ADD tries :one',
        ConditionExpression: 'attribute_exists(pk) AND (attribute_not_exists(tries) OR tries < :most)',
        ExpressionAttributeValues: { ':one': 1, ':most': mostTries },
      });
      return found && toTerminal(device, found);
    },

    async poll(device, now) {
      const found = await update(`device#${device}`, {
        UpdateExpression: 'SET polledAt = :now',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': now },
        ReturnValues: 'ALL_OLD',
      });
      return found && toTerminal(device, found);
    },

    async decide(device, decision, now, token) {
      const member = decision === 'denied' ? undefined : decision.approvedBy;
      const decided = await update(`device#${device}`, {
        UpdateExpression: `SET decision = :decision, decidedAt = :now, decidedBy = :token${member === undefined ? '' : ', approvedBy = :member'}`,
        ConditionExpression: `${isWaiting} AND (attribute_not_exists(decision) OR decidedBy = :token)`,
        ExpressionAttributeValues: {
          ':decision': member === undefined ? 'denied' : 'approved',
          ':token': token,
          ':now': now,
          ...(member !== undefined && { ':member': member }),
        },
      });
      return decided !== undefined;
    },

    async take(device, now, token) {
      const taken = await update(`device#${device}`, {
        UpdateExpression: 'SET takenBy = :token',
        ConditionExpression: `${isWaiting} AND decision = :approved AND (attribute_not_exists(takenBy) OR takenBy = :token)`,
        ExpressionAttributeValues: { ':token': token, ':approved': 'approved', ':now': now },
      });
      return taken !== undefined;
    },
  };
}

function toTerminal(device: string, item: Item): WaitingTerminal {
  const { networkId, askedAt, expiresAt, decision, decidedAt, approvedBy, polledAt } = item;
  return {
    device,
    networkId: String(networkId),
    askedAt: Number(askedAt),
    expiresAt: Number(expiresAt),
    ...((decision === 'approved' || decision === 'denied') && { decision }),
    ...(typeof decidedAt === 'number' && { decidedAt }),
    ...(typeof approvedBy === 'string' && { member: approvedBy }),
    ...(typeof polledAt === 'number' && { polledAt }),
  };
}
