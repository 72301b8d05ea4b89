import { expect, test } from '@jest/globals';
import { exploreWorld, findViolation } from './explore.ts';
import { createOperationWorld } from './operation-world.ts';
import { plant } from './plant.ts';
import { ofWholeOperations, pairs, type Scenario } from './scenarios.ts';
import { createSqliteModel, models } from './store-models.ts';
import * as subject from './subject.ts';

Error.stackTraceLimit = 0;

/*
 * The same promises as in every-schedule.unit.test.ts, over both stores: here each operation is whole, and what fails is the way to
 * it and back.
 */
test.each(Object.entries(models))(
  'over %s no schedule of two requests with up to two faults breaks an invariant',
  async (_, createModel) => {
    const model = createModel(subject);
    let states = 0;
    for (const scenario of ofWholeOperations(pairs)) {
      const explored = await exploreWorld(createOperationWorld(subject, model, scenario, 2), scenario);
      expect(explored.violation).toBeUndefined();
      states += explored.states;
    }
    expect(states).toBeGreaterThan(1_000);
  },
);

// A search that finds nothing proves nothing, so it must find these.
test.each([
  ['a limit passed by one', '(used >= limit)', '(used > limit)', 'guest#net has more than its limit'],
  [
    'a burst passed by one',
    "inMinute >= burst ? 'burst' : undefined",
    "inMinute > burst ? 'burst' : undefined",
    'member#ada has more than its burst limit',
  ],
  [
    'a budget not looked at',
    'taken > budget.amount - budget.reserve',
    'false',
    'member#ada is granted more than its budget',
  ],
  [
    'a reservation kept',
    'spend.run(spent - amount,',
    'spend.run(spent,',
    'member#ada has 15 of its budget taken, and not 5',
  ],
  [
    'a refund that is none',
    'count = count - 1 WHERE',
    'count = count - 0 WHERE',
    '1 is told of a refund that was not made',
  ],
  [
    'a settlement that refunds nothing',
    'if (settlement.refunded) takeBack(counted);',
    '',
    '1 is told of a refund that was not made',
  ],
])('%s is found', async (_, code, instead, fault) => {
  const planted = await plant(code, instead);
  const model = createSqliteModel(planted);
  const exploreWith = (scenario: Scenario, faults: number) =>
    exploreWorld(createOperationWorld(planted, model, scenario, faults), scenario);
  expect((await findViolation(ofWholeOperations(pairs), exploreWith))?.fault).toBe(fault);
});
