import { type ErrorCode, type ErrorOptions, GatewayError } from '../errors.ts';
import type { QuotaSnapshot } from './snapshot.ts';

/** Thrown when a request's quota or burst limit is spent, with the figures that the answer shows if they are known. */
export class QuotaRefusal extends GatewayError {
  readonly snapshot: QuotaSnapshot | undefined;

  constructor(refusal: Refusal, snapshot?: QuotaSnapshot) {
    super(refusal.code, refusal.message, refusal);
    this.name = 'QuotaRefusal';
    this.snapshot = snapshot;
  }
}

export interface Refusal extends ErrorOptions {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The settings that the wording of refusals depends on. */
export interface Wording {
  /** The web app where people get keys by themselves, if there is one. */
  readonly appUrl?: string | undefined;
  /** Whether people link their networks there too, by a wallet. */
  readonly linksNetworks?: boolean;
  /** Whether the gateway's own 400s are refunded. */
  readonly refundRefusals?: boolean;
  /** The currency of amounts, where there are prices. */
  readonly currency?: string;
}

/** What a request may cost, for a caller with a budget. */
export interface Cost {
  /** In micros. */
  readonly total: number;
  /** Advice for a request that would fit `left` micros with some change to it. */
  readonly advise: (left: number) => string | undefined;
}

/** A limit of requests of the whole deployment; the same as the `reason` in the log of its refusals. */
export type LimitName = 'daily_limit' | 'guest_daily_limit';
