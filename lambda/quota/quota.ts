import { budgetPeriod } from '../budget/budget-window.ts';
import type { Identity } from '../identity/identify.ts';
import {
  type Counters,
  type CounterWindow,
  isAnswerLost,
  type OpenReservation,
  type Settlement,
  type UsedTokens,
} from '../store/counters.ts';
import { type Limits, quotaWindow, tokenCountWindow, type Usage, usageOf } from './policy.ts';
import { type Cost, QuotaRefusal, type Wording } from './refusal.ts';
import { createAbandonedReport, createSpendingReport, type ReservationReports } from './reservations.ts';
import { type QuotaSnapshot, releaseBudget, snapshotOf } from './snapshot.ts';
import { refusalOf, tooFast } from './wording.ts';

/** A recorded charge. */
export interface Charge {
  readonly snapshot: QuotaSnapshot;
  /**
   * Refunds the charge and releases its reservation. Idempotent, and never throws. Returns the new snapshot, or undefined if the
   * refund failed and the charge still stands.
   */
  refund(): Promise<QuotaSnapshot | undefined>;
  /**
   * Replaces the reservation by what was spent, in micros, and adds to the usage by model. Does nothing if the charge was already
   * settled or refunded, and never throws. Returns the new snapshot, if there is one.
   */
  settle(spent: number, used?: UsedTokens): Promise<QuotaSnapshot | undefined>;
  /** Predicts the snapshot after a settlement, without waiting for the store. */
  snapshotAfter(spent: number): QuotaSnapshot;
}

export interface Quota {
  /** Charges a request. Throws a QuotaRefusal, or `service_unavailable` if the store does not answer. */
  charge(identity: Identity, requestId: string, cost?: Cost): Promise<Charge>;
  /** Reads the snapshot without charging. Falls back to `unreadSnapshot` if the store does not answer. */
  readSnapshot(identity: Identity): Promise<QuotaSnapshot>;
  /** Reads everything that is counted for the caller. Throws `service_unavailable` if the store does not answer. */
  readUsage(identity: Identity): Promise<Usage & { readonly snapshot: QuotaSnapshot }>;
  /** The snapshot to show if the store can't be read: the limit, and 0 remaining. */
  unreadSnapshot(identity: Identity): QuotaSnapshot;
  /** Counts a free count_tokens request against its burst limit, or throws `rate_limited`. */
  checkBurst(identity: Identity): Promise<void>;
}

/** An operation whose response from the store was lost. */
type LostOperation = 'charge' | 'refund' | 'settlement' | 'read';

export interface QuotaDependencies extends Wording, ReservationReports {
  readonly counters: Counters;
  readonly limits: Limits;
  readonly createToken: () => string;
  /** Called when it is unknown whether the store did it. A lost charge or refund may leave this request charged for nothing. */
  readonly onLost: (error: unknown, operation: LostOperation, requestId?: string) => void;
}

/** Charges requests against quota and burst limit, and refunds them. */
export function createQuota(dependencies: QuotaDependencies): Quota {
  const { counters, limits, now, createToken, onLost, requestTimeout, ...wording } = dependencies;
  const reportAbandoned = createAbandonedReport(dependencies);
  const openCharge = createOpenCharge(dependencies);
  const unreadSnapshot = (identity: Identity): QuotaSnapshot => {
    const window = quotaWindow(identity, now(), limits);
    return snapshotOf(window, { used: window.limit, inMinute: window.burst, taken: window.budget?.amount ?? 0 });
  };

  return {
    charge: async (identity, requestId, cost) => {
      const time = now();
      const window = quotaWindow(identity, time, limits, cost?.total);
      const token = createToken();
      const result = await counters.charge(window, token).catch((error) => {
        if (isAnswerLost(error)) onLost(error, 'charge', requestId);
        throw error;
      });
      const snapshot = snapshotOf(window, result);
      if (!result.granted) {
        throw new QuotaRefusal(refusalOf(identity, window, result, cost, time, wording), snapshot);
      }
      const request = { identity, requestId };
      reportAbandoned(result.open, request);
      return openCharge(window, token, result.reservation, snapshot, request);
    },

    readSnapshot: async (identity) => {
      try {
        const window = quotaWindow(identity, now(), limits);
        return snapshotOf(window, await counters.read(window));
      } catch (error) {
        onLost(error, 'read');
        return unreadSnapshot(identity);
      }
    },

    readUsage: async (identity) => {
      const time = now();
      const window = quotaWindow(identity, time, limits);
      const state = await counters.read(window);
      return { ...usageOf(window, state, time, requestTimeout), snapshot: snapshotOf(window, state) };
    },

    unreadSnapshot,

    checkBurst: async (identity) => {
      const time = now();
      const window = tokenCountWindow(identity, time, limits);
      const { granted } = await counters.charge(window, createToken());
      if (!granted) throw new QuotaRefusal(tooFast(window, time));
    },
  };
}

/** Wraps a granted charge, which can be refunded or settled once. */
function createOpenCharge(dependencies: QuotaDependencies) {
  const { counters, now, onLost } = dependencies;
  const reportSpending = createSpendingReport(dependencies);
  return (
    window: CounterWindow,
    token: string,
    reservation: OpenReservation | undefined,
    snapshot: QuotaSnapshot,
    request: { readonly identity: Identity; readonly requestId: string },
  ): Charge => {
    const end = async (settlement: Settlement) => {
      try {
        const state = reservation
          ? await counters.settle(window, reservation, settlement)
          : await counters.refund(window, token);
        if (state && window.budget) reportSpending(window.budget, state, settlement.spent, request);
        return state && snapshotOf(window, state);
      } catch (error) {
        if (reservation) onLost(error, 'settlement', request.requestId);
        if (settlement.refunded) onLost(error, 'refund', request.requestId);
        return undefined;
      }
    };
    let ended: ReturnType<typeof end> | undefined;
    const endOnce = (settlement: Settlement) => (ended ??= end(settlement));
    return {
      snapshot,
      refund: () => endOnce({ spent: 0, refunded: true }),
      // Without a reservation there is nothing to settle.
      settle: async (spent, used) => {
        if (!reservation) return undefined;
        // Usage by model is kept for the current period only, so an answer that ends in the next one doesn't count.
        const isCurrent = window.budget && budgetPeriod(window.budget.window, now()).name === reservation.budgetPeriod;
        return endOnce({ spent, ...(isCurrent && { used }) });
      },
      snapshotAfter: (spent) => (reservation ? releaseBudget(snapshot, reservation.amount - spent) : snapshot),
    };
  };
}
