import { expect, test } from '@jest/globals';
import type { Identity } from '../../../lambda/identity/identify.ts';
import type { LimitName, Wording } from '../../../lambda/quota/refusal.ts';
import { isExpired, sayWhatIsLeft } from '../../../lambda/quota/snapshot.ts';
import { allAnswered, refusalOf, tooFast, usedUp } from '../../../lambda/quota/wording.ts';
import type { CounterWindow } from '../../../lambda/store/counters.ts';
import { testRows } from '../../support/test-rows.ts';

const guest: Identity = { kind: 'guest', networkId: 'net' };
const member: Identity = { kind: 'member', member: 'ada' };
const now = Date.UTC(2026, 10, 22, 23, 59, 30);
const resetAt = Date.UTC(2026, 10, 23);
const window: CounterWindow = { item: 'x', limit: 1, burst: 1, minute: 0 };

testRows([
  [0, 'no requests are left'],
  [1, '1 request is left'],
  [2, '2 requests are left'],
])('is told how many requests are left', (remaining, said) => {
  expect(sayWhatIsLeft({ limit: 3, remaining })).toBe(said);
});

testRows([
  [1, 'More than 1 request in one minute. Please try again in 30 s.'],
  [20, 'More than 20 requests in one minute. Please try again in 30 s.'],
])('too many in one minute are told when to try again', (burst, message) => {
  expect(tooFast({ ...window, burst }, now)).toEqual({
    code: 'rate_limited',
    message,
    headers: { 'retry-after': '30' },
  });
});

test('a quota that is used up is told as such, also to a caller with a budget', () => {
  const budget = { amount: 9, window: 'day', period: 'd1', resetAt } as const;
  const result = { granted: false, reason: 'quota', taken: 0 } as Parameters<typeof refusalOf>[2];
  const cost = { total: 1, advise: () => undefined };
  const { message } = refusalOf(member, { ...window, resetAt, budget }, result, cost, now, {});
  expect(message).toMatch(/^The quota of 1 request a day is used up/);
});

test('a snapshot expires as soon as the quota or the budget resets', () => {
  const snapshot = { limit: 1, remaining: 1, resetAt: 20, budget: { limit: 1, remaining: 1, resetAt: 10 } };
  expect([9, 10].map((time) => isExpired(snapshot, time))).toEqual([false, true]);
  expect(isExpired({ ...snapshot, resetAt: 5 }, 9)).toBe(true);
});

const counted = ' Requests that were refused with a 400 counted too.';
const resets = 'It resets at 2026-11-23T00:00:00Z.';
const issued = 'use a key, which the operator makes by `npm run keys -- issue`';
const app = { appUrl: 'https://app.example' };
const atApp = 'get a key at https://app.example/cli';
testRows<[Identity, Partial<CounterWindow>, Wording, string]>([
  [
    guest,
    { limit: 3 },
    { refundRefusals: true },
    `allowance of 3 requests for guests is used up. For more, ${issued}.`,
  ],
  [
    guest,
    {},
    { ...app, linksNetworks: true },
    `allowance of 1 request for guests is used up.${counted} For more, link a wallet or ${atApp}.`,
  ],
  [guest, {}, app, `allowance of 1 request for guests is used up.${counted} For more, ${atApp}.`],
  [guest, { resetAt }, {}, `quota of 1 request a day is used up. ${resets}${counted} For more, ${issued}.`],
  [member, { resetAt }, { ...app, refundRefusals: true }, `quota of 1 request a day is used up. ${resets}`],
  [member, { limit: 3, resetAt }, {}, `quota of 3 requests a day is used up. ${resets}${counted}`],
])(
  'a quota that is used up is told with its limit, its end and the way to more',
  (identity, more, wording, message) => {
    expect(usedUp(identity, { ...window, ...more }, now, wording)).toEqual({
      ...{ code: 'quota_exceeded', message: `The ${message}` },
      ...(more.resetAt !== undefined && { headers: { 'retry-after': '30' } }),
    });
  },
);

testRows<[LimitName, string | undefined, string, string]>([
  ['daily_limit', 'https://app.example', 'requests', ''],
  ['guest_daily_limit', undefined, 'requests of guests', ` Before that, ${issued}.`],
])('a limit of the whole deployment is told with its end', (reason, appUrl, whose, more) => {
  expect(allAnswered(reason, resetAt, now, { appUrl })).toMatchObject({
    ...{ code: 'service_unavailable', reason },
    fault: `The gateway has answered as many ${whose} as it may on one day.`,
    advice: `Try again after 2026-11-23T00:00:00Z.${more}`,
    headers: { 'retry-after': '30', 'x-should-retry': 'false' },
  });
});
