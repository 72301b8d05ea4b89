import { isConditionFailure } from '../../aws/repeat.ts';
import type { CountedPeriod, CounterState, CounterWindow, OpenReservation, Settlement } from '../counters.ts';
import { tooLarge } from '../errors.ts';
import { budgetOf, countOf, reservationOf, stateIn } from './counter-state.ts';
import { type Sum, sumsOf } from './model-use.ts';
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
  const sums: Sum[] = [
    { name: budgetOf(budgetPeriod), placeholder: ':change', added: spent - amount },
    ...(refunded ? [{ name: countOf(period), placeholder: ':minusOne', added: -1 }] : []),
    ...(used ? sumsOf(budgetPeriod, spent, used) : []),
  ];
  const growing = sums.filter(({ added }) => added > 0);
  const values = [
    ...sums.map(({ placeholder, added }) => [placeholder, numberValue(added)] as const),
    ...growing.map(
      ({ placeholder, added }) => [`${placeholder}Most`, numberValue(Number.MAX_SAFE_INTEGER - added)] as const,
    ),
  ];
  return {
    UpdateExpression: [
      `ADD ${sums.map(({ name, placeholder }) => `${name} ${placeholder}`).join(', ')}`,
      `REMOVE ${['#reservation', ...outdatedUses].join(', ')}`,
    ].join(' '),
    ConditionExpression: [
      'attribute_exists(#reservation)',
      ...growing.map(({ name, placeholder }) => `NOT ${name} > ${placeholder}Most`),
    ].join(' AND '),
    ExpressionAttributeNames: { '#reservation': name },
    ExpressionAttributeValues: Object.fromEntries(values),
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
    const found = await table.loadRefusing(counted.item, error);
    if (found?.[reservation.name]) throw tooLarge();
    // If an earlier response was lost, that attempt has been applied.
    return error.inDoubt ? stateIn(found, counted) : undefined;
  }
}
