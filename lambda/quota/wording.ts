import { formatAmount } from '../budget/money.ts';
import { minuteOf, secondsUntil, startOfMinute } from '../budget/time.ts';
import { GatewayError } from '../errors.ts';
import type { Identity } from '../identity/identify.ts';
import type { ChargeResult, CounterBudget, CounterWindow } from '../store/counters.ts';
import type { Cost, LimitName, Refusal, Wording } from './refusal.ts';
import { inRequests } from './snapshot.ts';

/** Explains why a charge was refused. */
export function refusalOf(
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

export function tooFast({ burst }: CounterWindow, now: number): Refusal {
  const seconds = secondsUntil(startOfMinute(minuteOf(now) + 1), now);
  return {
    code: 'rate_limited',
    message: `More than ${inRequests(burst)} in one minute. Please try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  };
}

export function usedUp(identity: Identity, window: CounterWindow, now: number, wording: Wording): Refusal {
  const refused = wording.refundRefusals ? '' : ' Requests that were refused with a 400 counted too.';
  const more = refused + (identity.kind === 'guest' ? ` For more, ${howToGetMore(wording)}.` : '');
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

/** For a request that may cost more than what is left of the budget. */
function overBudget(
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

/** For a request limit of the whole deployment. Its value stays secret. */
export function allAnswered(reason: LimitName, resetAt: number, now: number, wording: Wording): GatewayError {
  const isForGuests = reason === 'guest_daily_limit';
  const message = `The gateway has answered as many requests${isForGuests ? ' of guests' : ''} as it may on one day.`;
  return overForToday(message, reason, resetAt, now, isForGuests ? ` Before that, ${howToGetMore(wording)}.` : '');
}

/** For the spend limit of the whole deployment. Its value stays secret. */
export function allSpent(resetAt: number, now: number): GatewayError {
  const message = 'The gateway has spent as much as it may on one day. This request was not charged.';
  return overForToday(message, 'spend_limit', resetAt, now);
}

function overForToday(message: string, reason: string, resetAt: number, now: number, more = ''): GatewayError {
  return new GatewayError('service_unavailable', message, {
    reason,
    advice: `Try again after ${sayTime(resetAt)}.${more}`,
    headers: { 'retry-after': String(secondsUntil(resetAt, now)), 'x-should-retry': 'false' },
  });
}

const sayTime = (time: number): string => new Date(time).toISOString().replace('.000', '');

function howToGetMore({ appUrl, linksNetworks }: Wording): string {
  if (appUrl === undefined) return 'use a key, which the operator makes by `npm run keys -- issue`';
  return `${linksNetworks ? 'link a wallet or ' : ''}get a key at ${appUrl}/cli`;
}
