import { type BudgetWindow, isLost } from '../budget/budget-window.ts';
import type { Identity } from '../identity/identify.ts';
import type { CountedPeriod, CounterBudget, CounterState, Counters, OpenReservation } from '../store/counters.ts';

/** A budget of which most is spent, in micros. */
interface NearlySpent {
  readonly requestId: string;
  /** The key that has it for itself. */
  readonly key: string | undefined;
  readonly window: BudgetWindow;
  readonly limit: number;
  readonly spent: number;
}

/** Who is told of budgets and their reservations. */
export interface ReservationReports {
  /** Called once when settled answers have spent most of a budget's period. */
  readonly onNearlySpent: (spending: NearlySpent) => void;
  /** Called with reservations whose process is gone, by each process once. */
  readonly onAbandoned: (reservations: readonly OpenReservation[], requestId: string) => void;
  readonly now: () => number;
  /** The milliseconds that a request may last. */
  readonly requestTimeout: number;
}

/** Of a budget, from which on it counts as nearly spent. */
const nearly = 0.8;

/** Gives abandoned reservations back, for an operator who knows that their answers cost nothing. Returns their sum in micros. */
export async function releaseAbandoned(
  counters: Pick<Counters, 'read' | 'settle'>,
  counted: CountedPeriod,
  requestTimeout: number,
  now: number,
): Promise<number> {
  let released = 0;
  for (const reservation of (await counters.read(counted)).open) {
    if (isLost(reservation, now, requestTimeout) && (await counters.settle(counted, reservation, { spent: 0 })))
      released += reservation.amount;
  }
  return released;
}

const remembered = 10_000;

/** Tells of each lost reservation that a charge has found. */
export function createAbandonedReport({ requestTimeout, now, onAbandoned }: ReservationReports) {
  const known = new Set<string>();
  return (open: readonly OpenReservation[], requestId: string): void => {
    const news = open.filter((one) => isLost(one, now(), requestTimeout) && !known.has(one.name));
    if (news.length === 0) return;
    if (known.size > remembered) known.clear();
    for (const { name } of news) known.add(name);
    onAbandoned(news, requestId);
  };
}

/**
 * Tells of a budget when most of it is spent. The store applies one settlement after the other, so that exactly one takes what is
 * spent over the mark.
 */
export function createSpendingReport({ onNearlySpent }: ReservationReports) {
  return (
    { amount: limit, window, period }: CounterBudget,
    { taken, open }: CounterState,
    added: number,
    { identity, requestId }: { readonly identity: Identity; readonly requestId: string },
  ): void => {
    if (taken < nearly * limit) return;
    const inPeriod = open.filter(({ budgetPeriod }) => budgetPeriod === period);
    const spent = inPeriod.reduce((sum, { amount }) => sum - amount, taken);
    if (spent < nearly * limit || spent - added >= nearly * limit) return;
    const key = identity.kind === 'member' && identity.own ? identity.keyId : undefined;
    onNearlySpent({ requestId, key, window, limit, spent });
  };
}
