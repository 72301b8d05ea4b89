import { type ErrorCode, type ErrorOptions, GatewayError } from '../errors.ts';
import type { QuotaSnapshot } from './snapshot.ts';

/** Thrown when a quota, budget or burst limit is used up. Carries the snapshot for the quota headers, if it is known. */
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

/** The settings that the text of refusals depends on. */
export interface Wording {
  /** The web app where people get keys by themselves, if there is one. */
  readonly appUrl?: string | undefined;
  /** Whether people can link their networks there too, with a wallet. */
  readonly linksNetworks?: boolean;
  /** Whether the gateway's own 400s are refunded. */
  readonly refundRefusals?: boolean;
  /** Of amounts, if there are prices. */
  readonly currency?: string;
}

/** What a request may cost, for a caller with a budget. */
export interface Cost {
  /** In micros. */
  readonly total: number;
  /** How to change the request so that it fits into `left` micros, if that is possible. */
  readonly advise: (left: number) => string | undefined;
}

/** A request limit of the whole deployment, as the `reason` in the log names it. */
export type LimitName = 'daily_limit' | 'guest_daily_limit';
