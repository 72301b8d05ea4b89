import type { CallService } from '../aws/call-service.ts';
import { isConditionFailure } from '../aws/repeat.ts';
import { loadOnce } from '../load-once.ts';
import { type Counters, type CounterWindow, markToken, type Tallies, type Tally } from '../quota/counter-store.ts';
import { minuteOf } from '../quota/time.ts';
import { outdatedUses, usesIn } from './model-use.ts';
import { quotaSchema } from './schema.ts';
import { budgetOf, burstOf, countOf, standingIn } from './standing.ts';
import { createTable, type Item, itemSize, numberValue, writeUnits } from './table.ts';
import { createWriteOnce, tokensOf } from './write-once.ts';

/*
 * One item per caller, one conditional write per charge: docs/decisions/4-one-item-counts.md.
 *
 *   pk          member#0xab…   the caller
 *   u20777      12             used on day 20777, and not refunded (`ulifetime` for a guest's whole life)
 *   n29920320   3              charged in minute 29920320, refunded or not: the burst counter
 *   w29920320   {token, …}     the tokens of that minute's writes
 *   bm682       1250000        of a budget: all that is spent or reserved in month 682, in millionths
 *   h29920320.AAAAAAAAAAA=     an open reservation of a charge: `m682 960000`
 *   tim682      12000          what answers used in the budget's current period, by model: model-use.ts
 *   ttl         1795305600     when DynamoDB may delete the item
 */

const ttl = quotaSchema.ttlAttribute;
/** A charge removes the minutes and the day that went out of date shortly before it; see `dropOld` for others. */
const minutesRemoved = [2, 3, 4];

const ttlValue = (expiresAt: number) => numberValue(Math.ceil(expiresAt / 1000));

/** Few items are so large that to drop something from them saves anything. What does so is read by the first. */
const loadDropOld = loadOnce(async () => (await import('./drop-old.ts')).dropOld);

/** Nor has every deployment budgets. What reserves and settles is read by the first request that has one. */
const loadReservation = loadOnce(() => import('./reservation.ts'));

/** Counters in the quota table: exact under any number of parallel charges, whatever is repeated. */
export function createCounters(callDynamoDb: CallService, tableName: string, now: () => number): Counters {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const writeOnce = createWriteOnce(table, now);

  return {
    charge: async (window, token) => {
      const { item, limit, burst, minute, expiresAt } = window;
      const [used, inMinute] = [countOf(window.period), burstOf(minute)];
      const reserving = window.budget && (await loadReservation()).reserve(window, token);
      const { applied, found } = await writeOnce(item, {
        ...{ minute, token },
        add: [`${used} :one, ${inMinute} :one`, ...(reserving ? [reserving.add] : [])].join(', '),
        set: [...(expiresAt === undefined ? [] : ['#ttl = :ttl']), ...(reserving ? [reserving.set] : [])],
        remove: [...outdated(window), ...(expiresAt === undefined ? ['#ttl'] : [])],
        condition: [
          `${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`,
          ...(reserving ? [reserving.condition] : []),
        ].join(' AND '),
        names: { '#ttl': ttl, ...reserving?.names },
        values: {
          ':one': numberValue(1),
          ':limit': numberValue(limit),
          ':burst': numberValue(burst),
          ...(expiresAt !== undefined && { ':ttl': ttlValue(expiresAt) }),
          ...reserving?.values,
        },
      });
      const standing = standingIn(found, window);
      if (!applied) {
        // A minute's count never falls. So if it is below the burst limit now, another limit was the reason, even if a refund
        // has made room since.
        if (standing.used >= limit) return { ...standing, granted: false, reason: 'quota' };
        if (reserving && standing.taken > reserving.room) return { ...standing, granted: false, reason: 'budget' };
        return { ...standing, granted: false, reason: standing.inMinute >= burst ? 'burst' : 'quota' };
      }
      if (found && writeUnits(itemSize(found)) > 1) {
        const dropping = loadDropOld().then((dropOld) => dropOld(table, window, found));
        // If it fails, the next charge tries again.
        await dropping.catch(() => {});
      }
      const reservation = reserving && { ...reserving.reservation, outdatedUses: outdatedUses(found, window.minute) };
      return { ...standing, granted: true, reservation };
    },

    refund: async (counted, token) => {
      const used = countOf(counted.period);
      const { applied, found } = await writeOnce(counted.item, {
        ...{ minute: minuteOf(now()), token: markToken(token, 'r') },
        add: `${used} :minusOne`,
        condition: `${used} > :zero`,
        values: { ':minusOne': numberValue(-1), ':zero': numberValue(0) },
      });
      return applied ? standingIn(found, counted) : undefined;
    },

    settle: async (...settled) => (await loadReservation()).settle(table, ...settled),
    read: async (counted) => {
      const found = await table.load(counted.item);
      return { ...standingIn(found, counted), uses: usesIn(found, counted.budget?.period, ({ N }) => N) };
    },
  };
}

/** The tallies of all callers in the quota table: an item a day, added to without tokens. */
export function createTallies(callDynamoDb: CallService, tableName: string): Tallies {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const keyOf = (period: number) => `deployment#${period}`;
  return {
    add: async ({ period, expiresAt }, amounts, most = {}) => {
      const key = keyOf(period);
      const [added, limits] = [Object.entries(amounts), Object.entries(most)];
      const condition = limits.map(([name, limit]) => below(name, `:most_${name}`, limit)).join(' AND ');
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
          },
          ReturnValues: 'ALL_NEW',
        });
        return { added: true, tally: tallyIn(found) };
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        return { added: false, tally: tallyIn(await table.loadRefusing(key, error)) };
      }
    },
    read: async (period) => tallyIn(await table.load(keyOf(period))),
  };
}

const tallyIn = (found: Item | undefined): Tally => ({
  requests: numberIn(found, 'requests'),
  guests: numberIn(found, 'guests'),
  spent: numberIn(found, 'spent'),
});

/**
 * A missing counter must count as zero. DynamoDB takes a comparison with a missing attribute as false, so its negation is true.
 */
function below(name: string, placeholder: string, limit: number): string {
  return limit > 0 ? `NOT ${name} >= ${placeholder}` : `${name} < ${placeholder}`;
}

/** The windows that went out of date last. */
function outdated({ period, minute, budget }: CounterWindow): string[] {
  const minutes = minutesRemoved.flatMap((ago) => [burstOf(minute - ago), tokensOf(minute - ago)]);
  return [
    ...minutes,
    ...(period === undefined ? [] : [countOf(period - 2)]),
    ...(budget ? [budgetOf(`${budget.period.charAt(0)}${Number(budget.period.slice(1)) - 2}`)] : []),
  ];
}

function numberIn(item: Item | undefined, name: string): number {
  return Number(item?.[name]?.N ?? 0);
}
