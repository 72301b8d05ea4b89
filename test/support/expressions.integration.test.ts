import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CallService } from '../../lambda/aws/call-service.ts';
import { ServiceError } from '../../lambda/aws/service-error.ts';
import { createToken } from '../../lambda/quota/counter-store.ts';
import { createCounters } from '../../lambda/tables/counters.ts';
import type { Item, Update } from '../../lambda/tables/table.ts';
import { startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { evaluateUpdate } from './expressions.ts';
import fc from './properties.ts';

let database: TestDynamoDb;
let items = 0;
beforeAll(async () => {
  database = await startTestDynamoDb();
});
afterAll(() => database.close());

/** Makes each write to the emulator and to the model, and compares what they answer. */
function createDoubleCaller() {
  const doubled = { updates: 0, call: call as CallService };
  let model: Item | undefined;
  async function call(operation: string, input: Update & { Key: { pk: { S: string } } }) {
    if (operation === 'GetItem') return database.callDynamoDb<{ Item?: Item }>(operation, input);
    doubled.updates += 1;
    const expected = evaluateUpdate(model ?? { pk: input.Key.pk }, input);
    const answer = await database.callDynamoDb<{ Attributes?: Item }>(operation, input).catch((error) => error);
    const found = answer instanceof ServiceError ? answer.details.Item : answer.Attributes;
    const comparable = {
      name: expected ? undefined : 'ConditionalCheckFailedException',
      item: sorted(expected ?? model),
    };
    expect({ name: answer.name, item: sorted(found) }).toEqual(comparable);
    model = expected ?? model;
    if (answer instanceof Error) throw answer;
    return answer;
  }
  return doubled;
}

/** Sets have no order. */
function sorted(item: Item | undefined) {
  return Object.entries(item ?? {})
    .map(([name, { BS, ...rest }]) => [name, BS ? BS.toSorted() : rest])
    .sort();
}

test('the model of the store applies every write of a counter as an emulator does', async () => {
  const step = fc.record({
    kind: fc.constantFrom('charge', 'charge', 'refund', 'again', 'settle'),
    seconds: fc.constantFrom(0, 0, 1, 70, 1200, 100_000),
  });
  const limits = fc.record({ limit: fc.integer({ min: 0, max: 4 }), burst: fc.integer({ min: 1, max: 3 }) });
  let updates = 0;
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { minLength: 10, maxLength: 20 }), async ({ limit, burst }, steps) => {
      const doubled = createDoubleCaller();
      let time = Date.UTC(2026, 10, 21);
      const counters = createCounters(doubled.call, database.quotaTable, () => time);
      const item = `item${items++}`;
      let token = createToken();
      for (const { kind, seconds } of steps) {
        time += seconds * 1000;
        const [minute, period] = [Math.floor(time / 60_000), Math.floor(time / 86_400_000)];
        const budget = { amount: 9, window: 'day', period: `d${period}`, resetAt: time, reserve: limit } as const;
        if (kind === 'charge') token = createToken();
        if (kind === 'refund') await counters.refund({ item, period }, createToken());
        else if (kind === 'settle') {
          const { open } = await counters.read({ item, budget });
          for (const one of open) await counters.settle({ item, period }, one, { spent: 3, refunded: seconds > 0 });
        } else await counters.charge({ item, period, limit, burst, minute, expiresAt: time, budget }, token);
      }
      updates += doubled.updates;
    }),
    { numRuns: 60 },
  );
  expect(updates).toBeGreaterThan(500);
});

test.each([
  ['SET used = used + :one', undefined],
  ['DELETE tokens :token', undefined],
  ['ADD used :one', 'attribute_not_exists(used)'],
  ['ADD used :one', 'used > :one OR used < :one'],
  ['ADD used :one', 'size(tokens) > :one'],
])('what the model does not know, it refuses: %s %s', (UpdateExpression, ConditionExpression) => {
  const ExpressionAttributeValues = { ':one': { N: '1' }, ':token': { BS: ['AAAA'] } };
  const update = { UpdateExpression, ExpressionAttributeValues, ...(ConditionExpression && { ConditionExpression }) };
  expect(() => evaluateUpdate({ used: { N: '2' }, tokens: { BS: ['AAAA'] } }, update)).toThrow('not known');
});
