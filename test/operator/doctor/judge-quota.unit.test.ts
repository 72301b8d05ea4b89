import { describe, expect, test } from '@jest/globals';
import {
  findSuspect,
  judgeCharges,
  judgeFree,
  judgeGivenBack,
  judgeTold,
} from '../../../operator/doctor/judge-quota.ts';
import type { Entry } from '../../../operator/doctor/ledger.ts';

const issueKey = (limit: number) => `issue ${limit}`;

type Row = readonly [title: string, before: number, after: number, more?: Partial<Entry>];

const entries = (...rows: readonly Row[]): Entry[] =>
  rows.map(([title, before, after, more]) => ({
    ...{ ask: { method: 'POST', path: '/' }, title, status: 200, times: 1 },
    before: { limit: 50, remaining: before, reset: 600 },
    told: { limit: 50, remaining: after, reset: 599 },
    after: { limit: 50, remaining: after, reset: 599 },
    ...more,
  }));
const restarted = { after: { limit: 50, remaining: 49, reset: 86_399 } };

describe('each answer is charged once', () => {
  test.each<[string, Entry[], 'ok' | 'fail' | 'untested']>([
    ['each took one', entries(['a', 50, 49], ['b', 49, 48]), 'ok'],
    ['each took one, and others took some in between', entries(['a', 50, 49], ['b', 40, 39]), 'ok'],
    ['each took two', entries(['a', 50, 48], ['b', 48, 46]), 'fail'],
    ['one kind takes two each time', entries(['a', 50, 49], ['b', 49, 47], ['b', 47, 45]), 'fail'],
    ['one took two, once', entries(['a', 50, 49], ['b', 49, 47], ['b', 47, 46]), 'untested'],
    ['each took two, while others took some as well', entries(['a', 50, 48], ['b', 45, 43]), 'untested'],
    ['one took nothing', entries(['a', 50, 50], ['b', 50, 49]), 'fail'],
    ['the window restarted', entries(['a', 3, 49, restarted], ['b', 49, 48]), 'untested'],
    ['nothing was answered', entries(['a', 50, 50, { status: 502 }]), 'untested'],
    ['nobody says what is left', entries(['a', Number.NaN, Number.NaN]), 'fail'],
  ])('%s', (_name, given, mark) => {
    expect(judgeCharges(given, issueKey).mark).toBe(mark);
  });

  test('an answer that took more than one deserves another try', () => {
    expect(findSuspect(entries(['a', 50, 49], ['b', 49, 47]))?.title).toBe('b');
    expect(findSuspect(entries(['a', 50, 49], ['b', 49, 48]))).toBeUndefined();
  });
});

test.each<[string, Entry[], 'ok' | 'fail' | 'untested']>([
  ['took nothing', entries(['a', 50, 50, { status: 502 }]), 'ok'],
  ['took one', entries(['a', 50, 49, { status: 502 }]), 'fail'],
  ['took one, while others took some', entries(['a', 50, 49, { status: 502 }], ['b', 40, 39]), 'untested'],
  ['never was', entries(['a', 50, 49]), 'untested'],
])('a failure that %s', (_name, given, mark) => {
  expect(judgeGivenBack(given, issueKey).mark).toBe(mark);
});

test.each<[string, Entry[], 'ok' | 'fail' | 'untested']>([
  ['nothing', entries(['a', 50, 50, { times: 2 }]), 'ok'],
  ['one each', entries(['a', 50, 48, { times: 2 }], ['b', 48, 48, { times: 2 }]), 'fail'],
  ['one of two, which others may have taken', entries(['a', 50, 49, { times: 2 }]), 'untested'],
  ['nothing, of nothing', entries(['a', 0, 0, { times: 2 }]), 'untested'],
  ['one for each reading', entries(['a', 50, 49], ['b', 48, 47], ['c', 46, 45]), 'fail'],
])('what is free takes %s', (_name, given, mark) => {
  expect(judgeFree(given, issueKey).mark).toBe(mark);
});

const told = (remaining: number) => ({ told: { limit: 50, remaining, reset: 599 } });

test.each<[string, Entry[], 'ok' | 'fail' | 'untested']>([
  ['what is left', entries(['a', 50, 49]), 'ok'],
  ['what was left when others took some', entries(['a', 50, 40, told(45)]), 'ok'],
  ['what was left before', entries(['a', 50, 49, told(50)]), 'fail'],
  ['less than is left', entries(['a', 50, 49, told(3)]), 'fail'],
  ['nothing', entries(['a', 50, 49, told(Number.NaN)]), 'fail'],
])('an answer says %s', (_name, given, mark) => {
  expect(judgeTold(given).mark).toBe(mark);
});
