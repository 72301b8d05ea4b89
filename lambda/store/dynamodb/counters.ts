import type { CallService } from '../../aws/call-service.ts';
import { minuteOf } from '../../budget/time.ts';
import { type Counters, type CounterWindow, markToken } from '../counters.ts';
import { budgetOf, burstOf, countOf, isReservation, stateIn } from './counter-state.ts';
import { currentPeriod, outdatedUses, usesIn } from './model-use.ts';
import { reserve, settle } from './reservation.ts';
import { quotaSchema } from './schema.ts';
import {
  below,
  createTable,
  type Item,
  itemSize,
  numberValue,
  type Table,
  ttlValue,
  type Value,
  writeUnits,
} from './table.ts';
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
/** A charge removes the minutes and the day that went out of date shortly before it; `dropOld` others. */
const minutesRemoved = [2, 3, 4];

/** Counters in the quota table: exact under any number of parallel charges, whatever is repeated. */
export function createCounters(callDynamoDb: CallService, tableName: string, now: () => number): Counters {
  const table = createTable(callDynamoDb, quotaSchema, tableName);
  const writeOnce = createWriteOnce(table, now);

  return {
    charge: async (window, token) => {
      const { item, limit, burst, minute, expiresAt } = window;
      const [used, inMinute] = [countOf(window.period), burstOf(minute)];
      const reserving = window.budget && reserve(window, token);
      const { applied, found } = await writeOnce(item, {
        minute,
        token,
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
      const standing = stateIn(found, window);
      if (!applied) {
        // A minute's count never falls. So if it is below the burst limit now, another limit was the reason, even if a refund
        // has made room since.
        if (standing.used >= limit) return { ...standing, granted: false, reason: 'quota' };
        if (reserving && standing.taken > reserving.room) return { ...standing, granted: false, reason: 'budget' };
        return { ...standing, granted: false, reason: standing.inMinute >= burst ? 'burst' : 'quota' };
      }
      if (found && writeUnits(itemSize(found)) > 1) {
        // If it fails, the next charge tries again.
        await dropOld(table, window, found).catch(() => {});
      }
      const reservation = reserving && { ...reserving.reservation, outdatedUses: outdatedUses(found, window.minute) };
      return { ...standing, granted: true, reservation };
    },

    refund: async (counted, token) => {
      const used = countOf(counted.period);
      const { applied, found } = await writeOnce(counted.item, {
        minute: minuteOf(now()),
        token: markToken(token, 'r'),
        add: `${used} :minusOne`,
        condition: `${used} > :zero`,
        values: { ':minusOne': numberValue(-1), ':zero': numberValue(0) },
      });
      return applied ? stateIn(found, counted) : undefined;
    },

    settle: (...settled) => settle(table, ...settled),

    read: async (counted) => {
      const found = await table.load(counted.item);
      return { ...stateIn(found, counted), uses: usesIn(found, counted.budget?.period, ({ N }) => N) };
    },
  };
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

/**
 * A pause leaves windows behind that no later charge can name. Whoever finds them drops them, once that makes each write a unit
 * cheaper.
 */
async function dropOld(table: Table, window: CounterWindow, found: Item): Promise<void> {
  const names = Object.entries(found).flatMap(([name, value]) => (isOld(name, value, window) ? [name] : []));
  const rest = Object.fromEntries(Object.entries(found).filter(([name]) => !names.includes(name)));
  if (writeUnits(itemSize(rest)) === writeUnits(itemSize(found))) return;
  // The name of a reservation has a dot in it.
  const substitutes = names.filter((name) => name.includes('.')).map((name, index) => [`#old${index}`, name] as const);
  const plain = names.filter((name) => !name.includes('.'));
  const update = {
    UpdateExpression: `REMOVE ${[...plain, ...substitutes.map(([substitute]) => substitute)].join(', ')}`,
    ...(substitutes.length > 0 && { ExpressionAttributeNames: Object.fromEntries(substitutes) }),
  };
  await table.update(window.item, update);
}

function isOld(name: string, { S = '' }: Value, { period = 0, minute }: CounterWindow): boolean {
  const [, kind, number] = /^([unw])(\d+)$/.exec(name) ?? [];
  if (kind !== undefined) return Number(number) < (kind === 'u' ? period : minute) - 1;
  // A reservation is as old as the budget's period that it was taken from.
  const budget = isReservation(name) ? budgetOf(S.split(' ')[0] ?? '') : name;
  const [, letter, past] = /^b([dwm])(\d+)$/.exec(budget) ?? [];
  return letter !== undefined && Number(past) < currentPeriod(letter, minute) - 1;
}
