import type { CounterWindow } from '../quota/counter-store.ts';
import { currentPeriod } from './model-use.ts';
import { budgetOf, isReservation } from './standing.ts';
import { type Item, itemSize, type Table, type Value, writeUnits } from './table.ts';

/**
 * A pause leaves windows behind that no later charge can name. Whoever finds them drops them, once that makes each write a unit
 * cheaper.
 */
export async function dropOld(table: Table, window: CounterWindow, found: Item): Promise<void> {
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
