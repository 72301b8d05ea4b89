import type { CallService } from '../aws/call-service.ts';
import type { Counters } from '../quota/counters.ts';
import { type CountCharges, combineCharges } from './combine-charges.ts';
import { itemSize, writeUnits } from './item-size.ts';
import { quotaSchema } from './schema.ts';
import { createTable, type Item, type Value } from './table.ts';
import { createWriteOnce, droppable } from './write-once.ts';

/*
 * One item per counter window, one conditional write per charge or for several charges: see combine-charges.ts.
 *
 *   used   the charges that stand
 *   n<M>   the charges of minute M, refunded or not: the burst counter
 *   w<M>   the tokens of minute M, left by an earlier version
 *
 * Each minute has an attribute of its own that is never reused. So a charge needs to know nothing about earlier minutes, and an
 * environment whose clock is behind counts in its own minute without disturbing the next.
 */

const used = 'used';
const ttl = quotaSchema.ttlAttribute;
const countOf = (minute: number) => `n${minute.toString(36)}`;

/** Counters in the quota table: exact under any number of parallel charges, whatever is repeated. */
export function createCounters(callDynamoDb: CallService, tableName: string, now: () => number): Counters {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const writeOnce = createWriteOnce(table, now);

  /** Removes what pauses have left behind, once that makes each write a unit cheaper. If it fails, the next charge tries again. */
  const tidy = async (item: string, found: Item | undefined, minute: number): Promise<void> => {
    const names = found ? [...droppable(found), ...oldMinutes(found, minute)] : [];
    if (!found || names.length === 0 || writeUnits(itemSize(found)) === writeUnits(itemSize(omit(found, names))))
      return;
    await table.update(item, () => ({ UpdateExpression: `REMOVE ${names.join(', ')}` })).catch(() => {});
  };

  const countCharges: CountCharges = async ({ item, limit, burst, minute, expiresAt }, token, charges) => {
    const counted = countOf(minute);
    const { applied, found } = await writeOnce(item, {
      ...{ kind: 'c', token },
      add: `${used} :charges, ${counted} :charges`,
      ...(expiresAt !== undefined && { set: ['#ttl = :ttl'], names: { '#ttl': ttl } }),
      remove: [2, 3, 4].map((ago) => countOf(minute - ago)),
      conditions: [atMost(used, ':limit', limit - charges), atMost(counted, ':burst', burst - charges)],
      values: {
        ':charges': number(charges),
        ':limit': number(limit - charges),
        ':burst': number(burst - charges),
        ...(expiresAt !== undefined && { ':ttl': number(Math.ceil(expiresAt / 1000)) }),
      },
    });
    if (applied) await tidy(item, found, minute);
    return { applied, used: numberIn(found, used), inMinute: numberIn(found, counted) };
  };

  return {
    charge: combineCharges(countCharges),

    refund: async (item, token) => {
      const { applied, found } = await writeOnce(item, {
        ...{ kind: 'r', token },
        add: `${used} :minusOne`,
        conditions: [`${used} > :zero`],
        values: { ':minusOne': number(-1), ':zero': number(0) },
      });
      return applied ? numberIn(found, used) : undefined;
    },

    read: async (item) => numberIn(await table.load(item), used),
  };
}

/**
 * A missing counter must count as zero. DynamoDB takes a comparison with a missing attribute as false, so its negation is true.
 */
function atMost(name: string, placeholder: string, most: number): string {
  return most >= 0 ? `NOT ${name} > ${placeholder}` : `${name} <= ${placeholder}`;
}

/** The minutes before the last one, which another environment's clock may still be in. */
function oldMinutes(item: Item, minute: number): string[] {
  return Object.keys(item).filter((name) => /^[nw]/.test(name) && Number.parseInt(name.slice(1), 36) < minute - 1);
}

function omit(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}

function number(value: number): Value {
  return { N: String(value) };
}

function numberIn(item: Item | undefined, name: string): number {
  return Number(item?.[name]?.N ?? 0);
}
