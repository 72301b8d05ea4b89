import type { CallService } from '../../aws/call-service.ts';
import { isConditionFailure } from '../../aws/repeat.ts';
import type { GlobalCounters, GlobalCounts } from '../counters.ts';
import { tooLarge } from '../errors.ts';
import { quotaSchema } from './schema.ts';
import { below, createTable, type Item, numberValue, ttlValue } from './table.ts';

/*
 *   pk         deployment#20777   the day
 *   requests   12                 of all callers, and not refunded; with `DAILY_LIMIT`
 *   guests     3                  of guests alone; with `GUEST_DAILY_LIMIT`
 *   spent      1250000            in millionths; with `SPEND_LIMIT`
 *   ttl        1795305600         when DynamoDB may delete the item
 */

const ttl = quotaSchema.ttlAttribute;

/** The global counters in the quota table: one item a day, without idempotency tokens. */
export function createGlobalCounters(callDynamoDb: CallService, tableName: string): GlobalCounters {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const keyOf = (period: number) => `deployment#${period}`;
  return {
    add: async ({ period, expiresAt }, amounts, most = {}) => {
      const key = keyOf(period);
      const [added, limits] = [Object.entries(amounts), Object.entries(most)];
      const growing = added.filter(([, amount]) => amount > 0);
      const condition = [
        ...limits.map(([name, limit]) => below(name, `:most_${name}`, limit)),
        ...growing.map(([name]) => `NOT ${name} > :room_${name}`),
      ].join(' AND ');
      try {
        const found = await table.update(key, {
          UpdateExpression: `ADD ${added.map(([name]) => `${name} :${name}`).join(', ')} SET #ttl = :ttl`,
          ...(condition !== '' && {
            ConditionExpression: condition,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
          ExpressionAttributeNames: { '#ttl': ttl },
          ExpressionAttributeValues: {
            ':ttl': ttlValue(expiresAt),
            ...Object.fromEntries(added.map(([name, amount]) => [`:${name}`, numberValue(amount)])),
            ...Object.fromEntries(limits.map(([name, limit]) => [`:most_${name}`, numberValue(limit)])),
            ...Object.fromEntries(growing.map(([name, amount]) => [`:room_${name}`, numberValue(roomFor(amount))])),
          },
          ReturnValues: 'ALL_NEW',
        });
        return { added: true, counts: countsIn(found) };
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const counts = countsIn(await table.loadRefusing(key, error));
        if (growing.some(([name, amount]) => counts[name as keyof GlobalCounts] > roomFor(amount))) throw tooLarge();
        return { added: false, counts };
      }
    },
    read: async (period) => countsIn(await table.load(keyOf(period))),
  };
}

/** The largest sum to which as much can be added. */
const roomFor = (amount: number): number => Number.MAX_SAFE_INTEGER - amount;

const countsIn = (found: Item | undefined): GlobalCounts => ({
  requests: numberIn(found, 'requests'),
  guests: numberIn(found, 'guests'),
  spent: numberIn(found, 'spent'),
});

function numberIn(item: Item | undefined, name: string): number {
  return Number(item?.[name]?.N ?? 0);
}
