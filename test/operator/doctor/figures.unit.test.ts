import { expect } from '@jest/globals';
import { findContradiction } from '../../../operator/doctor/figures.ts';
import { bearer, list, post } from '../../../operator/doctor/probe.ts';
import type { Heard } from '../../../operator/doctor/run.ts';
import { testRows } from '../../support/test-rows.ts';

type Figures = Readonly<Record<string, string>>;

const key = 'ltk_of-the-doctor';
const quota = { limit: '50', remaining: '40', reset: '3600' };
const budget = { 'budget-limit': '5.00', 'budget-remaining': '4.999999', 'budget-reset': '86400' };

/** The answer to a list, with these figures; an empty one is missing. */
const heard = (figures: Figures, seconds = 0, request = list(bearer(key)), status = 200): Heard => ({
  ...{ request, status, title: `${request.method} ${request.path}`, text: '', arrivals: [], sentAt: seconds * 1000 },
  headers: new Headers(
    Object.entries(figures).flatMap(([name, value]) => (value === '' ? [] : [[`x-svc-${name}`, value]])),
  ),
});
const guest = list(bearer('guest'));
const charged = post('/v1/messages', { 'x-api-key': key }, '{}');

const alone: [Figures, string | undefined][] = [
  [quota, undefined],
  [{ ...quota, ...budget }, undefined],
  [{ ...quota, ...budget, 'budget-remaining': '5.00' }, undefined],
  [{ ...quota, remaining: '50', reset: '0' }, undefined],
  [{ limit: '7', remaining: '99999', reset: '9' }, 'x-svc-remaining is 99999, though x-svc-limit is 7'],
  [
    { ...quota, ...budget, 'budget-remaining': '12.5' },
    'x-svc-budget-remaining is 12.5, though x-svc-budget-limit is 5.00',
  ],
  [{ ...quota, reset: 'soon' }, 'x-svc-reset is soon'],
  [{ ...quota, reset: '-1' }, 'x-svc-reset is -1'],
  [{ ...quota, ...budget, 'budget-limit': '5,00' }, 'x-svc-budget-limit is 5,00'],
  [{ ...quota, ...budget, 'budget-reset': '' }, 'x-svc-budget-reset is missing'],
  [{ ...quota, 'budget-reset': '60' }, 'x-svc-budget-limit is missing'],
  // A key's quota begins again each day.
  [{ ...quota, reset: '' }, 'x-svc-reset is missing'],
];
testRows(alone)('the figures of one answer do not contradict each other', (figures, fault) => {
  expect(findContradiction([heard(figures)], key, 'x-svc-')).toBe(fault && `GET /v1/models: ${fault}`);
});

const first = heard({ ...quota, ...budget });
const inTurn: [Heard[], string | undefined][] = [
  // Time goes by, requests are made, and one of them is refunded.
  [[first, heard({ ...quota, ...budget, remaining: '39', reset: '3590', 'budget-reset': '86390' }, 10)], undefined],
  [[first, heard({ ...quota, ...budget, remaining: '39' }, 0, charged), heard({ ...quota, ...budget })], undefined],
  // What was reserved of a budget is given back after an answer has ended.
  [[first, heard({ ...quota, ...budget, 'budget-remaining': '5.00' })], undefined],
  // Clocks of two machines differ a little.
  [[first, heard({ ...quota, ...budget, reset: '3602' })], undefined],
  // A day has begun.
  [[heard({ ...quota, reset: '3' }), heard({ ...quota, remaining: '50', reset: '86395' }, 8)], undefined],
  // A guest's, and what is said to those whom the gateway does not know, are other figures.
  [[first, heard({ limit: '3', remaining: '2' }, 0, guest)], undefined],
  [[first, heard({ limit: '3', remaining: '2' }, 0, list(bearer(key)), 404)], undefined],
  // Others share a guest's.
  [[heard({ limit: '3', remaining: '1' }, 0, guest), heard({ limit: '3', remaining: '2' }, 0, guest)], undefined],

  [
    [first, heard({ ...quota, ...budget, limit: '60' }, 0, charged)],
    'POST /v1/messages: x-svc-limit is 60, and was 50 in GET /v1/models',
  ],
  [
    [first, heard({ ...quota, ...budget, 'budget-limit': '6.00' }, 0, charged)],
    'POST /v1/messages: x-svc-budget-limit is 6.00, and was 5.00 in GET /v1/models',
  ],
  [
    [heard({ limit: '3', remaining: '2' }, 0, guest), heard({ limit: '4', remaining: '2' }, 0, guest)],
    'GET /v1/models: x-svc-limit is 4, and was 3 in GET /v1/models',
  ],
  [
    [first, heard(quota, 0, charged)],
    'POST /v1/messages: x-svc-budget-limit is missing, and was 5.00 in GET /v1/models',
  ],
  [
    [heard(quota), heard({ ...quota, ...budget }, 0, charged)],
    'POST /v1/messages: x-svc-budget-limit is 5.00, and was missing in GET /v1/models',
  ],
  [
    [heard({ limit: '3', remaining: '2', reset: '60' }, 0, guest), heard({ limit: '3', remaining: '2' }, 0, guest)],
    'GET /v1/models: x-svc-reset is missing, and was 60 in GET /v1/models',
  ],
  [
    [first, heard({ ...quota, ...budget, reset: '3600' }, 60)],
    'GET /v1/models: x-svc-reset is 3600, but 60 s before it was 3600',
  ],
  [
    [first, heard({ ...quota, ...budget, 'budget-reset': '90000' })],
    'GET /v1/models: x-svc-budget-reset is 90000, but 0 s before it was 86400',
  ],
  [
    [first, heard({ ...quota, ...budget, remaining: '41', reset: '3590', 'budget-reset': '86390' }, 10)],
    'GET /v1/models: x-svc-remaining is 41, but 10 s before it was 40, and no window began',
  ],
];
testRows(inTurn)('nor do those of two answers to the same caller', (replies, fault) => {
  const said = findContradiction(replies, key, 'x-svc-');
  if (fault === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(new RegExp(`^${fault.replaceAll('.', '\\.')}(; if .*)?$`));
});
