import { expect, test } from '@jest/globals';
import { readPrices } from '../../../lambda/budget/prices.ts';
import { createDialects } from '../../../lambda/dialects/index.ts';
import { GatewayError } from '../../../lambda/errors.ts';
import type { Identity } from '../../../lambda/identity/identity.ts';
import { createModels } from '../../../lambda/models.ts';
import { createRouter } from '../../../lambda/request/routes.ts';
import { readAhead } from '../../../lambda/steps/read-ahead.ts';
import { callWith } from '../../support/call.ts';

const router = createRouter(createDialects({ signsThinking: false, streamUsage: false }));
const prices = readPrices(
  '{"svc":{"input":1,"output":2},"svc-vision":{"input":1,"output":2}}',
  ['svc', 'svc-vision'],
  [],
);
const good = JSON.stringify({ model: 'svc', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 });

const guest: Identity = { kind: 'guest', networkId: 'n' };
const member: Identity = { kind: 'member', member: 'm' };
const budgeted: Identity = { ...member, own: { budget: { amount: 1_000_000, window: 'day' } } };
const restricted: Identity = { ...member, models: ['svc-vision'] };

/** What the step adds or throws, and how often it asked for the body. */
async function run(identity: Identity, body: string, path = '/v1/chat/completions') {
  let reads = 0;
  const route = router.route({ method: 'POST', path, headers: {} });
  if (route.kind !== 'inference') throw new Error(`${path} is no inference endpoint`);
  const step = readAhead({
    ...{ models: createModels('svc', []), requestBodyLimit: 1_000_000, hashIdsOf: undefined },
    ...{ prices, reservedOutput: 4_096, budgets: { memberBudget: undefined } },
  });
  const call = callWith({ body });
  const request = {
    ...{ id: 'req_1', method: 'POST', path, route, outcome: {}, identity, memberHash: undefined },
    credential: { kind: 'placeholder' as const },
    ...{ ...call, networkId: 'n', startedAt: 0, deadline: 1, coldStart: false, encoding: 'identity' as const },
    takeBody: () => {
      reads += 1;
      return call.takeBody();
    },
  };
  const outcome = await Promise.resolve(step.before?.(request)).catch((error: unknown) => error);
  return { reads, outcome };
}

test('nobody’s body is read before the charge but that of a caller with a budget or a list of models', async () => {
  for (const body of [good, '{', '['.repeat(100_000)]) {
    for (const identity of [guest, member]) expect(await run(identity, body)).toEqual({ reads: 0, outcome: {} });
    expect((await run(budgeted, body)).reads).toBe(1);
    expect((await run(restricted, body)).reads).toBe(1);
  }
  // It costs nothing, so nothing is reserved.
  expect((await run(budgeted, good, '/v1/messages/count_tokens')).reads).toBe(0);
});

test('what the body may cost is known before the charge; a fault in it is kept for after it', async () => {
  expect((await run(budgeted, good)).outcome).toMatchObject({ cost: { total: expect.any(Number) } });
  expect((await run(budgeted, '{')).outcome).toEqual({ ahead: { fault: expect.any(GatewayError) } });
});

test('a model that the key may not use is refused at once', async () => {
  expect((await run(restricted, good)).outcome).toMatchObject({ code: 'model_not_allowed' });
});
