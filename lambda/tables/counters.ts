import type { CallService } from '../aws/call-service.ts';
import { isConditionFailure } from '../aws/service-error.ts';
import { type Counters, type CounterWindow, markToken, type Tallies } from '../quota/counter-store.ts';
import { minuteOf } from '../quota/policy.ts';
import { quotaSchema } from './schema.ts';
import { createTable, type Item, itemSize, numberValue, type Table, writeUnits } from './table.ts';
import { createWriteOnce, tokensOf } from './write-once.ts';

/*
 * One item per caller, one conditional write per charge: docs/decisions/4-one-item-counts.md.
 *
 *   pk          member#0xab…   the caller
 *   u20777      12             used on day 20777, and not refunded (`ulifetime` for a guest's whole life)
 *   n29920320   3              charged in minute 29920320, refunded or not: the burst counter
 *   w29920320   {token, …}     the tokens of that minute's writes
 *   ttl         1795305600     when DynamoDB may delete the item
 */

const ttl = quotaSchema.ttlAttribute;
/** A charge removes the minutes and the day that went out of date shortly before it; see `dropOld` for others. */
const minutesRemoved = [2, 3, 4];

/** The digits keep it, as the names below, from being a word that DynamoDB reserves. */
export const countOf = (period: number | undefined): string => `u${period ?? 'lifetime'}`;
const burstOf = (minute: number) => `n${minute}`;

/** Counters in the quota table: exact under any number of parallel charges, whatever is repeated. */
export function createCounters(callDynamoDb: CallService, tableName: string, now: () => number): Counters {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const writeOnce = createWriteOnce(table, now);

  return {
    charge: async (window, token) => {
      const { item, limit, burst, minute, expiresAt } = window;
      const [used, inMinute] = [countOf(window.period), burstOf(minute)];
      const { applied, found } = await writeOnce(item, {
        ...{ minute, token },
        add: `${used} :one, ${inMinute} :one`,
        ...(expiresAt !== undefined && { set: '#ttl = :ttl' }),
        remove: [...outdated(window), ...(expiresAt === undefined ? ['#ttl'] : [])],
        condition: `${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`,
        isRefusedBy: (other) => numberIn(other, used) >= limit || numberIn(other, inMinute) >= burst,
        names: { '#ttl': ttl },
        values: {
          ':one': numberValue(1),
          ':limit': numberValue(limit),
          ':burst': numberValue(burst),
          ...(expiresAt !== undefined && { ':ttl': numberValue(Math.ceil(expiresAt / 1000)) }),
        },
      });
      const count = numberIn(found, used);
      if (!applied) {
        // A minute's count never falls. So if it is below the burst limit now, the quota was the reason, even if a refund
        // has made room since.
        const isBurst = numberIn(found, inMinute) >= burst && count < limit;
        return { granted: false, used: count, reason: isBurst ? 'burst' : 'quota' };
      }
      await dropOld(table, window, found);
      return { granted: true, used: count };
    },

    refund: async ({ item, period }, token) => {
      const used = countOf(period);
      const { applied, found } = await writeOnce(item, {
        ...{ minute: minuteOf(now()), token: markToken(token, 'r') },
        add: `${used} :minusOne`,
        condition: `${used} > :zero`,
        isRefusedBy: (other) => numberIn(other, used) <= 0,
        values: { ':minusOne': numberValue(-1), ':zero': numberValue(0) },
      });
      return applied ? numberIn(found, used) : undefined;
    },

    read: async ({ item, period }) => numberIn(await table.load(item), countOf(period)),
  };
}

/** Tallies in the quota table: `used`, added to without tokens. */
export function createTallies(callDynamoDb: CallService, tableName: string): Tallies {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  return {
    add: async (item, most, expiresAt) => {
      const added = table.update(item, {
        UpdateExpression: 'ADD used :one SET #ttl = :ttl',
        ConditionExpression: below('used', ':most', most),
        ExpressionAttributeNames: { '#ttl': ttl },
        ExpressionAttributeValues: {
          ':one': numberValue(1),
          ':most': numberValue(most),
          ':ttl': numberValue(Math.ceil(expiresAt / 1000)),
        },
        ReturnValues: 'ALL_NEW',
      });
      const found = await added.catch(undefinedIfRefused);
      return found && numberIn(found, 'used');
    },

    subtract: async (item) => {
      const subtracted = table.update(item, {
        UpdateExpression: 'ADD used :minusOne',
        ConditionExpression: 'used > :zero',
        ExpressionAttributeValues: { ':minusOne': numberValue(-1), ':zero': numberValue(0) },
      });
      await subtracted.catch(undefinedIfRefused);
    },

    read: async (item) => numberIn(await table.load(item), 'used'),
  };
}

function undefinedIfRefused(error: unknown): undefined {
  if (!isConditionFailure(error)) throw error;
}

/**
 * A missing counter must count as zero. DynamoDB takes a comparison with a missing attribute as false, so its negation is true.
 */
function below(name: string, placeholder: string, limit: number): string {
  return limit > 0 ? `NOT ${name} >= ${placeholder}` : `${name} < ${placeholder}`;
}

/** The windows that went out of date last. */
function outdated({ period, minute }: CounterWindow): string[] {
  const minutes = minutesRemoved.flatMap((ago) => [burstOf(minute - ago), tokensOf(minute - ago)]);
  return period === undefined ? minutes : [...minutes, countOf(period - 2)];
}

/**
 * A pause leaves windows behind that no later charge can name. Whoever finds them drops them, once that makes each write a unit
 * cheaper. If it fails, the next charge tries again.
 */
async function dropOld(table: Table, window: CounterWindow, found: Item | undefined): Promise<void> {
  const names = Object.keys(found ?? {}).filter((name) => isOld(name, window));
  if (!found || names.length === 0) return;
  const rest = Object.fromEntries(Object.entries(found).filter(([name]) => !names.includes(name)));
  if (writeUnits(itemSize(rest)) === writeUnits(itemSize(found))) return;
  await table.update(window.item, { UpdateExpression: `REMOVE ${names.join(', ')}` }).catch(() => {});
}

function isOld(name: string, { period = 0, minute }: CounterWindow): boolean {
  const [, kind, number] = /^([unw])(\d+)$/.exec(name) ?? [];
  return kind !== undefined && Number(number) < (kind === 'u' ? period : minute) - 1;
}

function numberIn(item: Item | undefined, name: string): number {
  return Number(item?.[name]?.N ?? 0);
}
