import { type BudgetWindow, isLost } from '../budget/budget-window.ts';
import type { Identity } from '../identity/identify.ts';
import {
  type ChargeResult,
  type CountedPeriod,
  type CounterBudget,
  type Counters,
  type CounterWindow,
  isAnswerLost,
  type OpenReservation,
  type Settlement,
  type Standing,
  type UsedTokens,
} from './counter-store.ts';
import {
  type Limits,
  minuteOf,
  quotaWindow,
  secondsUntil,
  timeOf,
  tokenCountWindow,
  type Usage,
  usageOf,
} from './policy.ts';
import {
  type Cost,
  type Figures,
  overBudget,
  QuotaRefusal,
  type Refusal,
  tooFast,
  usedUp,
  type Wording,
} from './refusal.ts';

/** A recorded charge. It stands unless it is refunded. */
export interface Charge {
  readonly figures: Figures;
  /**
   * Refunds the charge, and gives back what was reserved, only once however often it is called; never throws. Returns the new
   * figures, or undefined if the charge is left standing.
   */
  refund(): Promise<Figures | undefined>;
  /**
   * Replaces what was reserved by what was spent, in micros, and counts what was used by model, unless the charge was settled or refunded before; never throws.
   * Returns the new figures, or undefined if there are none.
   */
  settle(spent: number, used?: UsedTokens): Promise<Figures | undefined>;
  /** The figures of then, as far as they are known before the store has answered. */
  figuresAfter(spent: number): Figures;
}

export interface Quota {
  /** Charges the request with this id, or throws a QuotaRefusal, or `service_unavailable` if the store does not answer. */
  charge(identity: Identity, requestId: string, cost?: Cost): Promise<Charge>;
  /** The figures without a charge; the unread ones if the store does not answer. */
  readFigures(identity: Identity): Promise<Figures>;
  /** The figures with all that is counted. Throws `service_unavailable` if the store does not answer. */
  readUsage(identity: Identity): Promise<Usage & { readonly figures: Figures }>;
  /** The figures to show if the store can't be read: the limit, and none remaining. */
  unreadFigures(identity: Identity): Figures;
  /** Counts a free count_tokens request against its own burst limit, or throws `rate_limited`. */
  checkBurst(identity: Identity): Promise<void>;
}

/** An operation whose answer from the store never came. */
type LostOperation = 'charge' | 'refund' | 'settlement' | 'read';

export interface QuotaDependencies extends Wording {
  readonly counters: Counters;
  readonly limits: Limits;
  readonly now: () => number;
  readonly createToken: () => string;
  /**
   * Called when it is unknown whether the store did it. After a charge or a refund, a charge may be left standing, that of the
   * request with this id.
   */
  readonly onLost: (error: unknown, operation: LostOperation, requestId?: string) => void;
  /** Called once when settled answers have spent most of a budget's period. */
  readonly onNearlySpent?: (spending: NearlySpent) => void;
  /** Called with reservations whose process is gone, by each process once. */
  readonly onAbandoned?: (reservations: readonly OpenReservation[], requestId: string) => void;
  /** The milliseconds that a request may last. */
  readonly requestTimeout?: number;
}

/** A budget of which most is spent, in micros. */
export interface NearlySpent {
  readonly requestId: string;
  /** The key that has it for itself. */
  readonly key: string | undefined;
  readonly window: BudgetWindow;
  readonly limit: number;
  readonly spent: number;
}

/** Of a budget, from which on it counts as nearly spent. */
const nearly = 0.8;

/** Charges requests against quota and burst limit, and refunds them. */
export function createQuota(dependencies: QuotaDependencies): Quota {
  const { counters, limits, now, createToken, onLost, requestTimeout = 0, ...wording } = dependencies;
  const reportAbandoned = createAbandonedReport(dependencies);
  const reportSpending = createSpendingReport(dependencies);
  const unreadFigures = (identity: Identity): Figures => {
    const window = quotaWindow(identity, now(), limits);
    return figuresOf(window, { used: window.limit, inMinute: window.burst, taken: window.budget?.amount ?? 0 }, now());
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
      const figures = figuresOf(window, result, now());
      if (!result.granted) throw new QuotaRefusal(refusalOf(identity, window, result, cost, time, wording), figures);
      const { open, reservation } = result;
      reportAbandoned(open, requestId);
      const end = async (settlement: Settlement) => {
        try {
          const standing = reservation
            ? await counters.settle(window, reservation, settlement)
            : await counters.refund(window, token);
          if (standing && window.budget)
            reportSpending(window.budget, standing, settlement.spent, { identity, requestId });
          return standing && figuresOf(window, standing, now());
        } catch (error) {
          if (reservation) onLost(error, 'settlement', requestId);
          if (settlement.refunded) onLost(error, 'refund', requestId);
          return undefined;
        }
      };
      let ended: ReturnType<typeof end> | undefined;
      const endOnce = (settlement: Settlement) => (ended ??= end(settlement));
      return {
        figures,
        refund: () => endOnce({ spent: 0, refunded: true }),
        // Without a reservation there is nothing to settle.
        settle: async (spent, used) => {
          if (!reservation) return undefined;
          // What ends in the next period is not counted by model: only the current one is shown.
          const isCurrent = quotaWindow(identity, now(), limits).budget?.period === reservation.budgetPeriod;
          return endOnce({ spent, ...(isCurrent && { used }) });
        },
        figuresAfter: (spent) => (reservation ? giveBack(figures, reservation.amount - spent) : figures),
      };
    },

    readFigures: async (identity) => {
      try {
        const window = quotaWindow(identity, now(), limits);
        return figuresOf(window, await counters.read(window), now());
      } catch (error) {
        onLost(error, 'read');
        return unreadFigures(identity);
      }
    },

    readUsage: async (identity) => {
      const time = now();
      const window = quotaWindow(identity, time, limits);
      const standing = await counters.read(window);
      return { ...usageOf(window, standing, time, requestTimeout), figures: figuresOf(window, standing, time) };
    },

    unreadFigures,

    checkBurst: async (identity) => {
      const time = now();
      const window = tokenCountWindow(identity, time, limits);
      const { granted } = await counters.charge(window, createToken());
      if (!granted) throw new QuotaRefusal(tooFast(window, time));
    },
  };
}

function refusalOf(
  identity: Identity,
  window: CounterWindow,
  { reason, taken }: ChargeResult & { readonly granted: false },
  cost: Cost | undefined,
  time: number,
  wording: Wording,
): Refusal {
  if (reason === 'burst') return tooFast(window, time);
  if (reason === 'quota' || !window.budget || !cost) return usedUp(identity, window, time, wording);
  return overBudget(window.budget, taken, cost, time, wording);
}

function figuresOf(
  window: CounterWindow,
  { used, inMinute, taken }: Pick<Standing, 'used' | 'inMinute' | 'taken'>,
  now: number,
): Figures {
  const { limit, burst, resetAt, budget } = window;
  const minute = minuteOf(now);
  return {
    limit,
    remaining: Math.max(0, limit - used),
    ...(resetAt !== undefined && { resetSeconds: secondsUntil(resetAt, now) }),
    burst: {
      limit: burst,
      // An answer may come minutes after the charge.
      remaining: minute === window.minute ? Math.max(0, burst - inMinute) : burst,
      resetSeconds: secondsUntil(timeOf(minute + 1), now),
    },
    ...(budget && {
      budget: {
        limit: budget.amount,
        remaining: Math.max(0, budget.amount - taken),
        resetSeconds: secondsUntil(budget.resetAt, now),
      },
    }),
  };
}

/** What is left of a budget once so much is given back of what was reserved. */
function giveBack({ budget, ...figures }: Figures, amount: number): Figures {
  if (!budget) return figures;
  const remaining = Math.min(budget.limit, Math.max(0, budget.remaining + amount));
  return { ...figures, budget: { ...budget, remaining } };
}

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

function createAbandonedReport({ requestTimeout = 0, now, onAbandoned }: QuotaDependencies) {
  const known = new Set<string>();
  return (open: readonly OpenReservation[], requestId: string): void => {
    const news = open.filter((one) => isLost(one, now(), requestTimeout) && !known.has(one.name));
    if (news.length === 0) return;
    if (known.size > remembered) known.clear();
    for (const { name } of news) known.add(name);
    onAbandoned?.(news, requestId);
  };
}

/** The store applies one settlement after the other, so that exactly one takes what is spent over the mark. */
function createSpendingReport({ onNearlySpent }: QuotaDependencies) {
  return (
    { amount: limit, window, period }: CounterBudget,
    { taken, open }: Standing,
    added: number,
    { identity, requestId }: { readonly identity: Identity; readonly requestId: string },
  ): void => {
    const ofPeriod = open.filter(({ budgetPeriod }) => budgetPeriod === period);
    const spent = ofPeriod.reduce((sum, { amount }) => sum - amount, taken);
    if (spent < nearly * limit || spent - added >= nearly * limit) return;
    const key = identity.kind === 'member' && identity.own ? identity.keyId : undefined;
    onNearlySpent?.({ requestId, key, window, limit, spent });
  };
}
