import { type BudgetWindow, isLost } from '../budget/budget-window.ts';
import type { Identity } from '../identity/identify.ts';
import type { CountedPeriod, CounterBudget, CounterState, Counters, OpenReservation } from '../store/counters.ts';

/** The request that revealed something about a budget. */
interface Request {
  readonly identity: Identity;
  readonly requestId: string;
}

/** What names the budget in the log: the request, and the key if the budget is its own. */
interface Whose {
  readonly requestId: string;
  readonly key: string | undefined;
}

/** A budget that is nearly used up. Amounts are micros. */
interface NearlySpent extends Whose {
  readonly window: BudgetWindow;
  readonly limit: number;
  readonly spent: number;
}

/** Callbacks for what the operator should know about budgets. */
export interface ReservationReports {
  /** Called once in a budget period, when settled answers have used up most of it. */
  readonly onNearlySpent: (spending: NearlySpent) => void;
  /** Called with reservations whose process has died. Each process reports a reservation once. */
  readonly onAbandoned: (reservations: readonly OpenReservation[], whose: Whose) => void;
  readonly now: () => number;
  /** The longest that a request may run, in milliseconds. */
  readonly requestTimeout: number;
}

/** The share of a budget that counts as nearly spent. */
const nearly = 0.8;

/** Releases abandoned reservations, for an operator who knows that their answers cost nothing. Returns the sum, in micros. */
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

const mostRemembered = 10_000;

/** Reports the lost reservations that a charge comes across. */
export function createAbandonedReport({ requestTimeout, now, onAbandoned }: ReservationReports) {
  const reported = new Set<string>();
  return (open: readonly OpenReservation[], request: Request): void => {
    const unreported = open.filter((one) => isLost(one, now(), requestTimeout) && !reported.has(one.name));
    if (unreported.length === 0) return;
    if (reported.size > mostRemembered) reported.clear();
    for (const { name } of unreported) reported.add(name);
    onAbandoned(unreported, whoseBudget(request));
  };
}

/** Reports a budget when most of it is spent. The store serializes settlements, so exactly one of them crosses the threshold. */
export function createSpendingReport({ onNearlySpent }: ReservationReports) {
  return (
    { amount: limit, window, period }: CounterBudget,
    { taken, open }: CounterState,
    added: number,
    request: Request,
  ): void => {
    if (taken < nearly * limit) return;
    const inPeriod = open.filter(({ budgetPeriod }) => budgetPeriod === period);
    const spent = inPeriod.reduce((sum, { amount }) => sum - amount, taken);
    if (spent < nearly * limit || spent - added >= nearly * limit) return;
    onNearlySpent({ ...whoseBudget(request), window, limit, spent });
  };
}

const whoseBudget = ({ identity, requestId }: Request): Whose => ({
  requestId,
  key: identity.kind === 'member' && identity.own ? identity.keyId : undefined,
});
