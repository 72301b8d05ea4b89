import { describe, expect, test } from '@jest/globals';
import type { ExpectedLimits, Measurement } from '../../../operator/doctor/quota.ts';
import {
  checkCharges,
  checkFree,
  checkGuestLimit,
  checkKeyLimit,
  checkRefunds,
  checkStated,
  findSuspect,
} from '../../../operator/doctor/quota-checks.ts';
import { testRows } from '../../support/test-rows.ts';

const issueCommand = (limit: number) => `issue ${limit}`;

type Mark = 'ok' | 'fail' | 'untested';

type Row = readonly [title: string, before: number, after: number, more?: Partial<Measurement>];

const measured = (...rows: readonly Row[]): Measurement[] =>
  rows.map(([title, before, after, more]) => ({
    ...{ request: { method: 'POST', path: '/' }, title, status: 200, times: 1 },
    before: { limit: 50, remaining: before, reset: 600 },
    stated: { limit: 50, remaining: after, reset: 599 },
    after: { limit: 50, remaining: after, reset: 599 },
    ...more,
  }));
const restarted = { after: { limit: 50, remaining: 49, reset: 86_399 } };

describe('each answer is charged once', () => {
  const rows: [string, Measurement[], Mark][] = [
    ['each took one', measured(['a', 50, 49], ['b', 49, 48]), 'ok'],
    ['each took one, and others took some in between', measured(['a', 50, 49], ['b', 40, 39]), 'ok'],
    ['each took two', measured(['a', 50, 48], ['b', 48, 46]), 'fail'],
    ['one kind takes two each time', measured(['a', 50, 49], ['b', 49, 47], ['b', 47, 45]), 'fail'],
    ['one took two, once', measured(['a', 50, 49], ['b', 49, 47], ['b', 47, 46]), 'untested'],
    ['each took two, while others took some as well', measured(['a', 50, 48], ['b', 45, 43]), 'untested'],
    ['one took nothing', measured(['a', 50, 50], ['b', 50, 49]), 'fail'],
    ['the window restarted', measured(['a', 3, 49, restarted], ['b', 49, 48]), 'untested'],
    ['nothing was answered', measured(['a', 50, 50, { status: 502 }]), 'untested'],
    ['nobody says what is left', measured(['a', Number.NaN, Number.NaN]), 'fail'],
  ];
  testRows(rows)('is found out from what was left before and after', (_what, given, mark) => {
    expect(checkCharges(given, issueCommand)).toMatchObject({ mark });
  });

  test('an answer that took more than one deserves another try', () => {
    expect(findSuspect(measured(['a', 50, 49], ['b', 49, 47]))?.title).toBe('b');
    expect(findSuspect(measured(['a', 50, 49], ['b', 49, 48]))).toBeUndefined();
  });
});

const failures: [string, Measurement[], Mark][] = [
  ['took nothing', measured(['a', 50, 50, { status: 502 }]), 'ok'],
  ['took one', measured(['a', 50, 49, { status: 502 }]), 'fail'],
  ['took one, while others took some', measured(['a', 50, 49, { status: 502 }], ['b', 40, 39]), 'untested'],
  ['never was', measured(['a', 50, 49]), 'untested'],
];
testRows(failures)('a failure takes nothing', (_what, given, mark) => {
  expect(checkRefunds(given, issueCommand)).toMatchObject({ mark });
});

const free: [string, Measurement[], Mark][] = [
  ['nothing', measured(['a', 50, 50, { times: 2 }]), 'ok'],
  ['one each', measured(['a', 50, 48, { times: 2 }], ['b', 48, 48, { times: 2 }]), 'fail'],
  ['one of two, which others may have taken', measured(['a', 50, 49, { times: 2 }]), 'untested'],
  ['nothing, of nothing', measured(['a', 0, 0, { times: 2 }]), 'untested'],
  ['one for each reading', measured(['a', 50, 49], ['b', 48, 47], ['c', 46, 45]), 'fail'],
];
testRows(free)('what is free takes nothing', (_what, given, mark) => {
  expect(checkFree(given, issueCommand)).toMatchObject({ mark });
});

const stated = (remaining: number) => ({ stated: { limit: 50, remaining, reset: 599 } });

const says: [string, Measurement[], Mark][] = [
  ['what is left', measured(['a', 50, 49]), 'ok'],
  ['what was left when others took some', measured(['a', 50, 40, stated(45)]), 'ok'],
  ['what was left before', measured(['a', 50, 49, stated(50)]), 'fail'],
  ['less than is left', measured(['a', 50, 49, stated(3)]), 'fail'],
  ['nothing', measured(['a', 50, 49, stated(Number.NaN)]), 'fail'],
];
testRows(says)('an answer says what is left', (_what, given, mark) => {
  expect(checkStated(given)).toMatchObject({ mark });
});

const figures = (limit: number, remaining = 1, reset = 600) => [{ limit, remaining, reset }];
const guest = figures(3);
const usual: ExpectedLimits = { member: [50], guest: [3], certain: false };

const limits: [string, number, ExpectedLimits, Mark, RegExp][] = [
  ['as the settings say', 50, usual, 'ok', /^50 a day$/],
  ['as one of the stages says', 80, { ...usual, member: [50, 80] }, 'ok', /^80 a day$/],
  ['of its own', 1000, usual, 'untested', /a member's 50; say --limit 1000/],
  ['of its own, as the operator says', 1000, { ...usual, key: 1000 }, 'ok', /^1000 a day$/],
  ['other than the operator says', 999, { ...usual, key: 1000 }, 'fail', /^it is 999, and not 1000$/],
  ['of a guest', 3, usual, 'fail', /^it is 3, and a guest's too/],
  ['of a guest, as the settings say', 3, { ...usual, member: [3] }, 'ok', /^3 a day$/],
];
testRows(limits)(
  'the limit of a key is what the operator or the settings say',
  (_what, limit, expected, mark, said) => {
    expect(checkKeyLimit(figures(limit), guest, expected)).toEqual({ mark, detail: expect.stringMatching(said) });
  },
);

const wrong: [string, ReturnType<typeof figures>][] = [
  ['changes', [...figures(50), ...figures(60)]],
  ['is below what is left', figures(50, 51)],
  ['is missing', figures(Number.NaN)],
  ['never restarts', figures(50, 1, Number.NaN)],
  ['restarts after more than a day', figures(50, 1, 90_000)],
];
testRows(wrong)('a limit that contradicts itself is wrong', (_how, given) => {
  expect(checkKeyLimit(given, guest, usual).mark).toBe('fail');
});

test('a guest’s limit is wrong for certain only if the stage is known', () => {
  expect(checkGuestLimit(figures(3), usual).mark).toBe('ok');
  expect(checkGuestLimit(figures(7), usual).mark).toBe('untested');
  expect(checkGuestLimit(figures(7), { ...usual, certain: true }).mark).toBe('fail');
});
