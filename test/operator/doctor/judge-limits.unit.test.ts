import { expect, test } from '@jest/globals';
import { type ExpectedLimits, judgeGuestLimit, judgeKeyLimit } from '../../../operator/doctor/judge-limits.ts';

const figures = (limit: number, remaining = 1, reset = 600) => [{ limit, remaining, reset }];
const guest = figures(3);
const usual: ExpectedLimits = { member: [50], guest: [3], certain: false };

test.each<[string, number, ExpectedLimits, 'ok' | 'fail' | 'untested', RegExp]>([
  ['as the settings say', 50, usual, 'ok', /^50 a day$/],
  ['as one of the stages says', 80, { ...usual, member: [50, 80] }, 'ok', /^80 a day$/],
  ['of its own', 1000, usual, 'untested', /a member's 50; say --limit 1000/],
  ['of its own, as the operator says', 1000, { ...usual, key: 1000 }, 'ok', /^1000 a day$/],
  ['other than the operator says', 999, { ...usual, key: 1000 }, 'fail', /^it is 999, and not 1000$/],
  ['of a guest', 3, usual, 'fail', /^it is 3, and a guest's too/],
  ['of a guest, as the settings say', 3, { ...usual, member: [3] }, 'ok', /^3 a day$/],
])('a key has a limit %s', (_name, limit, expected, mark, detail) => {
  expect(judgeKeyLimit(figures(limit), guest, expected)).toEqual({ mark, detail: expect.stringMatching(detail) });
});

test.each([
  ['changes', [...figures(50), ...figures(60)]],
  ['is below what is left', figures(50, 51)],
  ['is missing', figures(Number.NaN)],
  ['never restarts', figures(50, 1, Number.NaN)],
  ['restarts after more than a day', figures(50, 1, 90_000)],
])('a limit that %s is wrong', (_name, given) => {
  expect(judgeKeyLimit(given, guest, usual).mark).toBe('fail');
});

test('a guest’s limit is wrong for certain only if the stage is known', () => {
  expect(judgeGuestLimit(figures(3), usual).mark).toBe('ok');
  expect(judgeGuestLimit(figures(7), usual).mark).toBe('untested');
  expect(judgeGuestLimit(figures(7), { ...usual, certain: true }).mark).toBe('fail');
});
