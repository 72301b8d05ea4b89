import { expect, test } from '@jest/globals';
import { dialects } from '../../../lambda/dialects/index.ts';
import type { QuotaSnapshot } from '../../../lambda/quota/snapshot.ts';
import { rateLimitHeaders } from '../../../lambda/request/rate-limits.ts';
import { createRouter } from '../../../lambda/request/routes.ts';

const findRoute = createRouter(dialects);
/** Half a minute before both of a member's limits reset. */
const now = Date.UTC(2026, 5, 15, 23, 59, 30);
const midnight = now + 30_000;
const burst = { limit: 20, remaining: 19, resetAt: midnight };
const headersAt = (path: string, snapshot: QuotaSnapshot, time = now) =>
  rateLimitHeaders(snapshot, findRoute({ method: 'POST', path, headers: {} }), time);

const ofMember = { limit: 50, remaining: 49, resetAt: midnight, burst };
const ofBoth = {
  'ratelimit-policy': '"quota";q=50;w=86400, "burst";q=20;w=60',
  ratelimit: '"quota";r=49;t=30, "burst";r=19;t=30',
};

test('the limit with fewer requests left is told as OpenAI tells it, and both as the draft does', () => {
  expect(headersAt('/v1/chat/completions', ofMember)).toEqual({
    ...ofBoth,
    'x-ratelimit-limit-requests': '20',
    'x-ratelimit-remaining-requests': '19',
    'x-ratelimit-reset-requests': '30s',
  });
});

test('for messages it is told as Anthropic tells it, with a time in UTC', () => {
  expect(headersAt('/v1/messages', ofMember)).toEqual({
    ...ofBoth,
    'anthropic-ratelimit-requests-limit': '20',
    'anthropic-ratelimit-requests-remaining': '19',
    'anthropic-ratelimit-requests-reset': '2026-06-16T00:00:00Z',
  });
});

test('a quota for a lifetime never resets', () => {
  expect(headersAt('/v1/responses', { limit: 3, remaining: 2, burst })).toEqual({
    'ratelimit-policy': '"quota";q=3, "burst";q=20;w=60',
    ratelimit: '"quota";r=2, "burst";r=19;t=30',
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': '2',
  });
});

test('in a later minute than that of the charge, all of its burst is free', () => {
  const { ratelimit } = headersAt('/v1/responses', { ...ofMember, resetAt: midnight + 86_400_000 }, midnight + 5_000);
  expect(ratelimit).toBe('"quota";r=49;t=86395, "burst";r=20;t=55');
});
