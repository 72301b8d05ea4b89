import { type ErrorCode, type ErrorOptions, GatewayError } from '../http/errors.ts';
import type { Identity } from '../identity/identity.ts';
import type { CounterWindow } from './counters.ts';
import { secondsToNextMinute, secondsUntil } from './policy.ts';

/** What a client is told about its quota. */
export interface Figures {
  readonly limit: number;
  /** Never negative, also where a limit was lowered below what is used. */
  readonly remaining: number;
  /** Until the window starts anew; absent where it never does. */
  readonly resetSeconds?: number;
}

/** "1 request", "2 requests" … */
const inRequests = (count: number): string => `${count} request${count === 1 ? '' : 's'}`;

/** "2 requests are left", for the middle of a sentence. */
export function sayWhatIsLeft({ remaining }: Figures): string {
  return `${remaining === 0 ? 'no requests' : inRequests(remaining)} ${remaining === 1 ? 'is' : 'are'} left`;
}

/** Thrown for a request that its quota or the burst limit refuses, with the figures that the answer shows. */
export class QuotaRefusal extends GatewayError {
  readonly figures: Figures;

  constructor(refusal: Refusal, figures: Figures) {
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
  const seconds = secondsToNextMinute(now);
  return {
    code: 'rate_limited',
    message: `More than ${inRequests(burst)} in one minute. Please try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

/** How a deployment words its refusals. */
export interface Wording {
  /** Where more quota is to be had, if anywhere. */
  readonly appUrl?: string | undefined;
  /** Whether a body that the gateway refuses costs nothing. */
  readonly refundRefusals?: boolean;
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
    message: `The quota of ${inRequests(window.limit)} a day is used up. ${sayWhenItEnds(window.resetAt)}${more}`,
    headers: { 'retry-after': String(secondsUntil(window.resetAt, now)) },
  };
}

/** For a limit of the whole deployment, which says nothing of how many requests that is. */
export function allAnswered(ofGuests: boolean, resetAt: number, now: number, { appUrl }: Wording): Refusal {
  const whose = ofGuests ? ' of guests' : '';
  const more = ofGuests ? ` Before that, ${howToGetMore(appUrl)}.` : '';
  return {
    code: 'service_unavailable',
    message: `The gateway has answered as many requests${whose} as it may on one day.`,
    advice: sayWhenItEnds(resetAt) + more,
    headers: { 'retry-after': String(secondsUntil(resetAt, now)), 'x-should-retry': 'false' },
  };
}

function sayWhenItEnds(resetAt: number): string {
  return `It starts anew at ${new Date(resetAt).toISOString().replace('.000', '')}.`;
}

function howToGetMore(appUrl: string | undefined): string {
  return appUrl === undefined ? 'use an issued key' : `link a wallet or get a key at ${appUrl}/cli`;
}
