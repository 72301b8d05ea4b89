import { isConditionFailure } from '../../aws/repeat.ts';
import type { CountedPeriod, CounterState, CounterWindow, OpenReservation, Settlement } from '../counters.ts';
import { budgetOf, countOf, reservationOf, stateIn } from './counter-state.ts';
import { addUse } from './model-use.ts';
import { numberValue, type Table } from './table.ts';

/** The part of a charge's write that reserves an amount. */
export function reserve({ minute, budget }: CounterWindow, token: string) {
  if (budget?.reserve === undefined) return undefined;
  const { amount: limit, period: budgetPeriod, reserve: amount } = budget;
  const [taken, room] = [budgetOf(budgetPeriod), limit - amount];
  const reservation: OpenReservation = { minute, name: reservationOf(minute, token), budgetPeriod, amount };
  return {
    reservation,
    room,
    add: `${taken} :reserve`,
    set: '#reservation = :reservation',
    // `taken` is never negative, so with negative room the condition is always false.
    condition: room < 0 ? `${taken} < :room` : `NOT ${taken} > :room`,
    names: { '#reservation': reservation.name },
    values: {
      ':reserve': numberValue(amount),
      ':room': numberValue(room),
      ':reservation': { S: `${budgetPeriod} ${amount}` },
    },
  };
}

/** Idempotent without a token: the first attempt to arrive removes the reservation, and the others then fail their condition. */
export function settlementOf(
  { period }: CountedPeriod,
  { name, budgetPeriod, amount, outdatedUses = [] }: OpenReservation,
  { spent, refunded = false, used }: Settlement,
) {
  const use = used && addUse(budgetPeriod, spent, used);
  const added = [
    `${budgetOf(budgetPeriod)} :change`,
    ...(refunded ? [`${countOf(period)} :minusOne`] : []),
    ...(use?.added ?? []),
  ];
  return {
    UpdateExpression: `ADD ${added.join(', ')} REMOVE ${['#reservation', ...outdatedUses].join(', ')}`,
    ConditionExpression: 'attribute_exists(#reservation)',
    ExpressionAttributeNames: { '#reservation': name },
    ExpressionAttributeValues: {
      ':change': numberValue(spent - amount),
      ...(refunded && { ':minusOne': numberValue(-1) }),
      ...use?.values,
    },
    ReturnValues: 'ALL_NEW' as const,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

export async function settle(
  table: Table,
  counted: CountedPeriod,
  reservation: OpenReservation,
  settlement: Settlement,
): Promise<CounterState | undefined> {
  try {
    return stateIn(await table.update(counted.item, settlementOf(counted, reservation, settlement)), counted);
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    // If an earlier response was lost, that attempt has been applied.
    return error.inDoubt ? stateIn(await table.loadRefusing(counted.item, error), counted) : undefined;
  }
}
