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
 *   u20777      12             used on day 20777, and not refunded (`ulifetime` for guests with GUEST_WINDOW=lifetime)
 *   n29920320   3              burst counter: charges in minute 29920320, refunded or not
 *   w29920320   {token, …}     idempotency tokens of that minute's writes
 *   bm682       1250000        budget: everything spent or reserved in month 682, in millionths
 *   h29920320.AAAAAAAAAAA=     an open reservation: `m682 960000`
 *   tim682      12000          usage by model in the budget's current period: model-use.ts
 *   ttl         1795305600     when DynamoDB may delete the item
 */

const ttl = quotaSchema.ttlAttribute;
/** A charge removes the windows that have just expired: these minutes, a day and a budget period. `dropOld` removes older ones. */
const minutesRemoved = [2, 3, 4];

/** Counters in the quota table. Exact under any concurrency and any retries. */
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
      const state = stateIn(found, window);
      if (!applied) {
        // Burst counts never go down. So if this one is below its limit now, another limit caused the refusal, even if a refund has
        // made room since.
        if (state.used >= limit) return { ...state, granted: false, reason: 'quota' };
        if (reserving && state.taken > reserving.room) return { ...state, granted: false, reason: 'budget' };
        return { ...state, granted: false, reason: state.inMinute >= burst ? 'burst' : 'quota' };
      }
      if (found && writeUnits(itemSize(found)) > 1) {
        // Best effort: if it fails, the next charge tries again.
        await dropOld(table, window, found).catch(() => {});
      }
      const reservation = reserving && { ...reserving.reservation, outdatedUses: outdatedUses(found, window.minute) };
      return { ...state, granted: true, reservation };
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

/** The windows that have just expired. */
function outdated({ period, minute, budget }: CounterWindow): string[] {
  const minutes = minutesRemoved.flatMap((ago) => [burstOf(minute - ago), tokensOf(minute - ago)]);
  return [
    ...minutes,
    ...(period === undefined ? [] : [countOf(period - 2)]),
    ...(budget ? [budgetOf(`${budget.period.charAt(0)}${Number(budget.period.slice(1)) - 2}`)] : []),
  ];
}

/**
 * Removes expired windows that charges can no longer name, because the caller has paused for a while. Only worth a write if it makes
 * each later write a unit cheaper.
 */
async function dropOld(table: Table, window: CounterWindow, found: Item): Promise<void> {
  const names = Object.entries(found).flatMap(([name, value]) => (isOld(name, value, window) ? [name] : []));
  const rest = Object.fromEntries(Object.entries(found).filter(([name]) => !names.includes(name)));
  if (writeUnits(itemSize(rest)) === writeUnits(itemSize(found))) return;
  // Names of reservations contain a dot, so they need placeholders.
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
  // A reservation expires with its budget period.
  const budget = isReservation(name) ? budgetOf(S.split(' ')[0] ?? '') : name;
  const [, letter, past] = /^b([dwm])(\d+)$/.exec(budget) ?? [];
  return letter !== undefined && Number(past) < currentPeriod(letter, minute) - 1;
}
