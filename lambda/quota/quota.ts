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
import { giveBack, type QuotaSnapshot, snapshotOf } from './snapshot.ts';
import { refusalOf, tooFast } from './wording.ts';

/** A recorded charge. It stands unless it is refunded. */
export interface Charge {
  readonly snapshot: QuotaSnapshot;
  /**
   * Refunds the charge, and gives back what was reserved, only once however often it is called; never throws. Returns the new
   * figures, or undefined if the charge is left standing.
   */
  refund(): Promise<QuotaSnapshot | undefined>;
  /**
   * Replaces what was reserved by what was spent, in micros, and counts what was used by model, unless the charge was settled or
   * refunded before; never throws. Returns the new figures, or undefined if there are none.
   */
  settle(spent: number, used?: UsedTokens): Promise<QuotaSnapshot | undefined>;
  /** The figures of then, as far as they are known before the store has answered. */
  snapshotAfter(spent: number): QuotaSnapshot;
}

export interface Quota {
  /** Charges the request with this id, or throws a QuotaRefusal, or `service_unavailable` if the store does not answer. */
  charge(identity: Identity, requestId: string, cost?: Cost): Promise<Charge>;
  /** The figures without a charge; the unread ones if the store does not answer. */
  readSnapshot(identity: Identity): Promise<QuotaSnapshot>;
  /** The figures with all that is counted. Throws `service_unavailable` if the store does not answer. */
  readUsage(identity: Identity): Promise<Usage & { readonly snapshot: QuotaSnapshot }>;
  /** The figures to show if the store can't be read: the limit, and none remaining. */
  unreadSnapshot(identity: Identity): QuotaSnapshot;
  /** Counts a free count_tokens request against its own burst limit, or throws `rate_limited`. */
  checkBurst(identity: Identity): Promise<void>;
}

/** An operation whose answer from the store never came. */
type LostOperation = 'charge' | 'refund' | 'settlement' | 'read';

export interface QuotaDependencies extends Wording, ReservationReports {
  readonly counters: Counters;
  readonly limits: Limits;
  readonly createToken: () => string;
  /**
   * Called when it is unknown whether the store did it. After a charge or a refund, a charge may be left standing, that of the
   * request with this id.
   */
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
      reportAbandoned(result.open, requestId);
      return openCharge(window, token, result.reservation, snapshot, { identity, requestId });
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
      const standing = await counters.read(window);
      return { ...usageOf(window, standing, time, requestTimeout), snapshot: snapshotOf(window, standing) };
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

/** Opens a charge that has been granted, which ends once. */
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
        const standing = reservation
          ? await counters.settle(window, reservation, settlement)
          : await counters.refund(window, token);
        if (standing && window.budget) reportSpending(window.budget, standing, settlement.spent, request);
        return standing && snapshotOf(window, standing);
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
        // What ends in the next period is not counted by model: only the current one is shown.
        const isCurrent = window.budget && budgetPeriod(window.budget.window, now()).name === reservation.budgetPeriod;
        return endOnce({ spent, ...(isCurrent && { used }) });
      },
      snapshotAfter: (spent) => (reservation ? giveBack(snapshot, reservation.amount - spent) : snapshot),
    };
  };
}
