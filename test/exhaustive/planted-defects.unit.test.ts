// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the pieces of code are code
import { expect, test } from '@jest/globals';
import { explore, findViolation } from './explore.ts';
import { plant } from './plant.ts';
import { pairs, type Scenario } from './scenarios.ts';

// A search that finds nothing proves nothing, so it must find these.
Error.stackTraceLimit = 0;

const checkedBefore = `
  const checked = window.budget && reserve(window, token);
  const hasRoom = checked && stateIn(await table.load(item), window).taken <= checked.room;
  const reserving = hasRoom ? { ...checked, condition: 'attribute_exists(pk)' } : checked;`;

/** Code with its defective replacement, the invariant that this breaks, and the shortest schedule that shows it. */
const defects: [name: string, code: string, instead: string, fault: string, schedule: string][] = [
  [
    'a refund twice',
    '`${condition} AND NOT contains(${tokens}, :token)`',
    "add.endsWith(':minusOne') ? condition : `${condition} AND NOT contains(${tokens}, :token)`",
    '1 is refunded twice',
    '1 2 begin; 1 is answered; 1 gets no answer; 1 arrives; 2 is answered; 1 is answered',
  ],
  [
    'a token forgotten a minute early',
    'const minutesRemoved = [2, 3, 4];',
    'const minutesRemoved = [1, 2, 3];',
    '1 is refunded twice',
    '1 begin; 1 is answered; 1 gets no answer; 1 arrives; time passes; 2 is answered; 1 is answered',
  ],
  [
    'a condition dropped',
    "`${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`",
    "below(inMinute, ':burst', burst)",
    'guest#net has more than its limit',
    '1 2 begin; 1 is answered; 2 is answered',
  ],
  [
    'a token used again after it was left',
    'token = nextToken(token);',
    '',
    '2 is free',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 2 is answered; 2 is answered',
  ],
  [
    'a refusal in doubt taken for final',
    'if (!inDoubt || !found) return',
    'if (found) return',
    '2 is refused, and charged',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 1 is answered; 2 arrives',
  ],
  [
    'the token that was left taken for the charge’s own',
    'applied: !applied && !has(found, tokens, givenUp)',
    'applied: !applied',
    '2 is free',
    '1 2 begin; 1 is answered; 2 gets no answer; 2 is answered; 2 gets no answer; 2 arrives by its later call; 2 is answered',
  ],
  [
    'a refusal without an item taken for one by a missing item',
    'loadRefusing(item, error)',
    'Promise.resolve(undefined)',
    '2 is refused (quota_exceeded) with room left',
    '1 2 begin; 1 is answered; 2 is answered',
  ],
  [
    'a refusal without an item, which could not be read, taken for final',
    'fail(cause, inDoubt)',
    'fail(cause, false)',
    '1 is charged, and notStarted says so',
    '1 begin; 1 gets no answer; 1 arrives; 1 is answered; 1 gets no answer, sleeps; time passes',
  ],
  [
    'a settlement twice',
    "'attribute_exists(#reservation)'",
    "'attribute_exists(pk)'",
    '1 is settled twice',
    '1 begin; 1 is answered; 1 gets no answer; 1 arrives; 1 is answered',
  ],
  [
    'a reservation forgotten at a window’s edge',
    'Number(budget.period.slice(1)) - 2',
    'Number(budget.period.slice(1)) - 1',
    'member#ada has 0 of its budget taken, and not 10',
    '1 begin; 1 is answered; time passes; 2 is answered',
  ],
  [
    'a refund of the actual instead of the reservation',
    'added: spent - amount',
    'added: -spent',
    'member#ada has -2 of its budget taken, and not 12',
    '2 begin; 2 is answered; 2 is answered',
  ],
  [
    'a lost settlement taken for done',
    "if (reservation) onLost(error, 'settlement', request.requestId);",
    'if (reservation) return snapshot;',
    '1 is told of a settlement that was not made',
    '1 begin; 1 is answered; 1 gets no answer, sleeps; time passes',
  ],
  [
    'a budget checked before instead of with the write',
    'const reserving = window.budget && reserve(window, token);',
    checkedBefore,
    'member#ada is granted more than its budget',
    '1 2 begin; 1 is answered; 2 is answered; 2 is answered; 1 is answered',
  ],
  [
    'rounding down',
    '(tokensTimesPrice + perMillion - 1n) / perMillion',
    'tokensTimesPrice / perMillion',
    'member#ada has 4 of its budget taken, and not 5',
    '1 begin; 1 is answered; 1 is answered',
  ],
];

test.each(defects)('%s is found, with the smallest schedule', async (_, code, instead, fault, schedule) => {
  const subject = await plant(code, instead);
  const exploreWith = (scenario: Scenario, faults: number) => explore(subject, scenario, faults);
  expect(await findViolation(pairs, exploreWith)).toMatchObject({ fault, schedule });
});
