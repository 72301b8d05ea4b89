import { formatAmount } from '../budget/money.ts';
import { type ErrorCode, type ErrorOptions, GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import type { CounterBudget, CounterWindow } from './counter-store.ts';
import { minuteOf, secondsUntil, timeOf } from './policy.ts';

/** A client's quota, as its answers show it. */
export interface Figures {
  readonly limit: number;
  /** Never negative, even if a limit was lowered below what is used. */
  readonly remaining: number;
  /** Until the window restarts; absent if it never does. */
  readonly resetSeconds?: number;
  /** Of the current minute. */
  readonly burst?: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };
  /** Of a caller with a budget, in micros. */
  readonly budget?: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };
}

/** "1 request", "2 requests" … */
const inRequests = (count: number): string => `${count} request${count === 1 ? '' : 's'}`;

/** "2 requests are left", for the middle of a sentence. */
export function sayWhatIsLeft({ remaining }: Figures): string {
  return `${remaining === 0 ? 'no requests' : inRequests(remaining)} ${remaining === 1 ? 'is' : 'are'} left`;
}

/** Thrown when a request's quota or burst limit is spent, with the figures that the answer shows if they are known. */
export class QuotaRefusal extends GatewayError {
  readonly figures: Figures | undefined;

  constructor(refusal: Refusal, figures?: Figures) {
    super(refusal.code, refusal.message, refusal);
    this.name = 'QuotaRefusal';
    this.figures = figures;
  }
}

export interface Refusal extends ErrorOptions {
  readonly code: ErrorCode;
  readonly message: string;
}

export function tooFast({ burst }: CounterWindow, now: number): Refusal {
  const seconds = secondsUntil(timeOf(minuteOf(now) + 1), now);
  return {
    code: 'rate_limited',
    message: `More than ${inRequests(burst)} in one minute. Please try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

/** The settings that the wording of refusals depends on. */
export interface Wording {
  /** The web app where people get more quota, if there is one. */
  readonly appUrl?: string | undefined;
  /** Whether the gateway's own 400s are refunded. */
  readonly refundRefusals?: boolean;
  /** The currency of amounts, where there are prices. */
  readonly currency?: string;
}

export function usedUp(identity: Identity, window: CounterWindow, now: number, wording: Wording): Refusal {
  const refused = wording.refundRefusals ? '' : ' Requests that were refused with a 400 counted too.';
  const more = refused + (identity.kind === 'guest' ? ` For more, ${howToGetMore(wording.appUrl)}.` : '');
  const code = 'quota_exceeded';
  if (window.resetAt === undefined) {
    return { code, message: `The allowance of ${inRequests(window.limit)} for guests is used up.${more}` };
  }
  return {
    code,
    message: `The quota of ${inRequests(window.limit)} a day is used up. It resets at ${sayTime(window.resetAt)}.${more}`,
    headers: { 'retry-after': String(secondsUntil(window.resetAt, now)) },
  };
}

/** What a request may cost, for a caller with a budget. */
export interface Cost {
  /** In micros. */
  readonly total: number;
  /** Advice for a request that would fit `left` micros with some change to it. */
  readonly advise: (left: number) => string | undefined;
}

/** For a request that may cost more than is left. */
export function overBudget(
  { amount, resetAt }: CounterBudget,
  taken: number,
  { total, advise }: Cost,
  now: number,
  { currency = '' }: Wording,
): Refusal {
  const left = Math.max(0, amount - taken);
  const [mayCost, isLeft, budget] = [total, left, amount].map(formatAmount);
  const advice = advise(left);
  return {
    code: 'quota_exceeded',
    message: `This request may cost up to ${mayCost} ${currency}; ${isLeft} of ${budget} ${currency} is left until ${sayTime(resetAt)}.${advice ? ` ${advice}` : ''}`,
    headers: { 'retry-after': String(secondsUntil(resetAt, now)) },
  };
}

/** A limit of requests of the whole deployment; the same as the `reason` in the log of its refusals. */
export type LimitName = 'daily_limit' | 'guest_daily_limit';

/** For a limit of the whole deployment, whose value it does not reveal. */
export function allAnswered(reason: LimitName, resetAt: number, now: number, { appUrl }: Wording): GatewayError {
  const ofGuests = reason === 'guest_daily_limit';
  const message = `The gateway has answered as many requests${ofGuests ? ' of guests' : ''} as it may on one day.`;
  return overForToday(message, reason, resetAt, now, ofGuests ? ` Before that, ${howToGetMore(appUrl)}.` : '');
}

/** For the limit of spending of the whole deployment, whose value it does not reveal. */
export function allSpent(resetAt: number, now: number): GatewayError {
  return overForToday('The gateway has spent as much as it may on one day.', 'spend_limit', resetAt, now);
}

function overForToday(message: string, reason: string, resetAt: number, now: number, more = ''): GatewayError {
  return new GatewayError('service_unavailable', message, {
    ...{ reason, advice: `Try again after ${sayTime(resetAt)}.${more}` },
    headers: { 'retry-after': String(secondsUntil(resetAt, now)), 'x-should-retry': 'false' },
  });
}

const sayTime = (time: number): string => new Date(time).toISOString().replace('.000', '');

function howToGetMore(appUrl: string | undefined): string {
  return appUrl === undefined
    ? 'use a key, which the operator makes by `npm run keys -- issue`'
    : `link a wallet or get a key at ${appUrl}/cli`;
}
