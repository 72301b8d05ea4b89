import type { CountedPeriod, CounterState, OpenReservation } from '../counters.ts';
import type { Item } from './table.ts';

/** Attribute names. Their digits keep them from being reserved words of DynamoDB. */
export const countOf = (period: number | undefined): string => `u${period ?? 'lifetime'}`;
export const burstOf = (minute: number) => `n${minute}`;
export const budgetOf = (period: string) => `b${period}`;
export const reservationOf = (minute: number, token: string) => `h${minute}.${token}`;
export const isReservation = (name: string) => name.startsWith('h');

/** Reads the counters of an item. `read` unwraps an attribute, whichever client has loaded it. */
export function readState<Attribute>(
  found: Readonly<Record<string, Attribute>> = {},
  { period, budget, minute }: CountedPeriod,
  read: (attribute: Attribute) => unknown,
): CounterState {
  const numberIn = (name: string): number => {
    const attribute = found[name];
    return attribute === undefined ? 0 : Number(read(attribute));
  };
  return {
    used: numberIn(countOf(period)),
    inMinute: minute === undefined ? 0 : numberIn(burstOf(minute)),
    taken: budget ? numberIn(budgetOf(budget.period)) : 0,
    open: budget ? readReservations(found, read) : [],
  };
}

/** The same for an item in DynamoDB's wire format. */
export const stateIn = (found: Item | undefined, counted: CountedPeriod): CounterState =>
  readState(found, counted, ({ N, S }) => N ?? S);

function readReservations<Attribute>(
  found: Readonly<Record<string, Attribute>>,
  read: (attribute: Attribute) => unknown,
): OpenReservation[] {
  const open: OpenReservation[] = [];
  for (const [name, attribute] of Object.entries(found)) {
    if (!isReservation(name)) continue;
    const [budgetPeriod = '', amount] = String(read(attribute)).split(' ');
    open.push({ name, minute: Number(name.slice(1, name.indexOf('.'))), budgetPeriod, amount: Number(amount) });
  }
  return open;
}
