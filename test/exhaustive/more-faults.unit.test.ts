import { expect, test } from '@jest/globals';
import { explore, exploreWorld } from './explore.ts';
import { createOperationWorld } from './operation-world.ts';
import { ofWholeOperations, pairs, triples } from './scenarios.ts';
import { models } from './store-models.ts';
import * as subject from './subject.ts';

Error.stackTraceLimit = 0;

/* Like every-schedule and every-store, with more requests and faults: each takes ten times as long. */

test.each([
  ['two', pairs],
  ['three', triples],
])(
  'no schedule of %s requests with up to two faults breaks a promise',
  async (_, scenarios) => {
    for (const scenario of scenarios) expect((await explore(subject, scenario, 2)).violation).toBeUndefined();
  },
  600_000,
);

test.each(Object.entries(models))(
  'over %s no schedule of three requests with up to one fault breaks an invariant',
  async (_, createModel) => {
    const model = createModel(subject);
    for (const scenario of ofWholeOperations(triples)) {
      const { violation } = await exploreWorld(createOperationWorld(subject, model, scenario, 1), scenario);
      expect(violation).toBeUndefined();
    }
  },
);
