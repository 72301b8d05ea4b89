import type { CountedPeriod, OpenReservation, Standing } from '../quota/counter-store.ts';

/** The digits keep it, as the names below, from being a word that DynamoDB reserves. */
export const countOf = (period: number | undefined): string => `u${period ?? 'lifetime'}`;
export const burstOf = (minute: number) => `n${minute}`;
export const budgetOf = (period: string) => `b${period}`;

/** What a caller's item says; `read` gives the number or text in an attribute. */
export function readStanding<Attribute>(
  found: Readonly<Record<string, Attribute>> = {},
  { period, budget, minute }: CountedPeriod,
  read: (attribute: Attribute) => unknown,
): Standing {
  const numberIn = (name: string): number => {
    const attribute = found[name];
    return attribute === undefined ? 0 : Number(read(attribute));
  };
  const reservations = () =>
    Object.entries(found).flatMap(([name, attribute]) => readReservation(name, attribute, read) ?? []);
  return {
    used: numberIn(countOf(period)),
    inMinute: minute === undefined ? 0 : numberIn(burstOf(minute)),
    taken: budget ? numberIn(budgetOf(budget.period)) : 0,
    open: budget ? reservations() : [],
  };
}

function readReservation<Attribute>(
  name: string,
  attribute: Attribute,
  read: (attribute: Attribute) => unknown,
): OpenReservation | undefined {
  const [, minute] = /^h(\d+)\./.exec(name) ?? [];
  if (minute === undefined) return undefined;
  const [budgetPeriod = '', amount] = String(read(attribute)).split(' ');
  return { name, minute: Number(minute), budgetPeriod, amount: Number(amount) };
}
