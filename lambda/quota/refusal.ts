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
    message: `More than ${burst} requests in one minute. Please try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

export function usedUp(identity: Identity, window: CounterWindow, now: number, appUrl?: string): Refusal {
  const more = identity.kind === 'guest' ? ` For more, ${howToGetMore(appUrl)}.` : '';
  const code = 'quota_exceeded';
  if (window.resetAt === undefined) {
    return { code, message: `The allowance of ${window.limit} requests for guests is used up.${more}` };
  }
  const reset = new Date(window.resetAt).toISOString().replace('.000', '');
  return {
    code,
    message: `The quota of ${window.limit} requests a day is used up. It starts anew at ${reset}.${more}`,
    headers: { 'retry-after': String(secondsUntil(window.resetAt, now)) },
  };
}

function howToGetMore(appUrl: string | undefined): string {
  return appUrl === undefined ? 'use an issued key' : `link a wallet or get a key at ${appUrl}/cli`;
}
