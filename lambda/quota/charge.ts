import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identity.ts';
import { type Counters, type CounterWindow, isAnswerLost } from './counter-store.ts';
import { type Limits, quotaWindow, secondsUntil, tokenCountWindow } from './policy.ts';
import { type Figures, QuotaRefusal, tooFast, usedUp, type Wording } from './refusal.ts';

/** A recorded charge. It stands unless it is refunded. */
export interface Charge {
  readonly figures: Figures;
  /**
   * Refunds the charge, only once however often it is called, and never throws. Returns the new figures, or undefined if the
   * charge is left standing.
   */
  refund(): Promise<Figures | undefined>;
}

export interface Quota {
  /** Charges the request with this id, or throws a QuotaRefusal, or `service_unavailable` if the store does not answer. */
  charge(identity: Identity, requestId: string): Promise<Charge>;
  /** The figures without a charge; the unread ones if the store does not answer. */
  readFigures(identity: Identity): Promise<Figures>;
  /** The figures to show if the store can't be read: the limit, and none remaining. */
  unreadFigures(identity: Identity): Figures;
  /** Counts a free count_tokens request against its own burst limit, or throws `rate_limited`. */
  checkBurst(identity: Identity): Promise<void>;
}

/** An operation whose answer from the store never came. */
type LostOperation = 'charge' | 'refund' | 'read';

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
}

/** Charges requests against quota and burst limit, and refunds them. */
export function createQuota({ counters, limits, now, createToken, onLost, ...wording }: QuotaDependencies): Quota {
  const unreadFigures = (identity: Identity): Figures => {
    const window = quotaWindow(identity, now(), limits);
    return figuresOf(window, window.limit, now());
  };

  const undo = async (window: CounterWindow, token: string, requestId: string, figures: Figures) => {
    try {
      const used = await counters.refund(window, token);
      return used === undefined ? figures : figuresOf(window, used, now());
    } catch (error) {
      onLost(error, 'refund', requestId);
      return undefined;
    }
  };

  return {
    charge: async (identity, requestId) => {
      const time = now();
      const window = quotaWindow(identity, time, limits);
      const token = createToken();
      const result = await counters.charge(window, token).catch((error) => {
        if (isAnswerLost(error)) onLost(error, 'charge', requestId);
        throw error;
      });
      const figures = figuresOf(window, result.used, now());
      if (!result.granted) {
        const tooMany = result.reason === 'burst' ? tooFast(window, time) : usedUp(identity, window, time, wording);
        throw new QuotaRefusal(tooMany, figures);
      }
      return { figures, refund: once(() => undo(window, token, requestId, figures)) };
    },

    readFigures: async (identity) => {
      try {
        const window = quotaWindow(identity, now(), limits);
        const used = await counters.read(window);
        return figuresOf(window, used, now());
      } catch (error) {
        onLost(error, 'read');
        return unreadFigures(identity);
      }
    },

    unreadFigures,

    checkBurst: async (identity) => {
      const time = now();
      const window = tokenCountWindow(identity, time, limits);
      const { granted } = await counters.charge(window, createToken());
      if (granted) return;
      const tooMany = tooFast(window, time);
      throw new GatewayError(tooMany.code, tooMany.message, tooMany);
    },
  };
}

function figuresOf({ limit, resetAt }: CounterWindow, used: number, now: number): Figures {
  const remaining = Math.max(0, limit - used);
  return { limit, remaining, ...(resetAt !== undefined && { resetSeconds: secondsUntil(resetAt, now) }) };
}

/** Does something the first time that it is called. All calls get the same result. */
export function once<Result>(act: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: act() };
    return done.result;
  };
}
