import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CallService } from '../../lambda/aws/call-service.ts';
import { ServiceError } from '../../lambda/aws/service-error.ts';
import { createToken } from '../../lambda/quota/token.ts';
import { createCounters } from '../../lambda/store/counters.ts';
import type { Item, Update } from '../../lambda/store/table.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb.ts';
import fc from '../support/properties.ts';
import { evaluateUpdate } from './expressions.ts';
import { createYesterdaysCounters } from './yesterdays-counters.ts';

let database: TestDynamoDb;
let items = 0;
beforeAll(async () => {
  database = await startTestDynamoDb();
});
afterAll(() => database.close());

/** Makes each call to the emulator and to the model, and compares the resulting items. */
function createDoubleCaller(): { call: CallService; updates: number } {
  const model = new Map<string, Item>();
  const doubled = { updates: 0, call: call as CallService };
  async function call(operation: string, input: Update & { Key: { pk: { S: string } } }) {
    const { pk } = input.Key;
    const { callDynamoDb } = database;
    const load = async () => (await callDynamoDb<{ Item?: Item }>('GetItem', { ...input, ConsistentRead: true })).Item;
    if (operation === 'GetItem') return { Item: await load() };
    doubled.updates += 1;
    const expected = evaluateUpdate(model.get(pk.S) ?? { pk }, input);
    if (expected) model.set(pk.S, expected);
    const answer = await callDynamoDb<{ Attributes?: Item }>(operation, input).catch((error: ServiceError) => error);
    expect(answer instanceof ServiceError ? answer.name : 'applied').toBe(
      expected ? 'applied' : 'ConditionalCheckFailedException',
    );
    const { TableName } = input as unknown as { TableName: string };
    const found = (await callDynamoDb<{ Item?: Item }>('GetItem', { TableName, Key: input.Key, ConsistentRead: true }))
      .Item;
    expect(sorted(found)).toEqual(sorted(model.get(pk.S)));
    if (answer instanceof ServiceError) throw answer;
    return answer;
  }
  return doubled;
}

/** Sets have no order. */
function sorted(item: Item | undefined) {
  return Object.entries(item ?? {})
    .map(([name, { SS, BS, ...rest }]) => [
      name,
      { ...rest, ...(SS && { SS: SS.toSorted() }), ...(BS && { BS: BS.toSorted() }) },
    ])
    .sort();
}

test('the model of the store applies every write of a counter as an emulator does', async () => {
  const step = fc.record({
    kind: fc.constantFrom('charge', 'charge', 'old charge', 'refund', 'old refund', 'again'),
    seconds: fc.constantFrom(0, 0, 1, 4, 7, 70, 1200),
  });
  const limits = fc.record({ limit: fc.integer({ min: 0, max: 4 }), burst: fc.integer({ min: 1, max: 3 }) });
  let updates = 0;
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { minLength: 10, maxLength: 20 }), async ({ limit, burst }, steps) => {
      const doubled = createDoubleCaller();
      let time = Date.UTC(2026, 10, 21);
      const today = createCounters(doubled.call, database.quotaTable, () => time);
      const yesterday = createYesterdaysCounters(doubled.call, database.quotaTable);
      const item = `item${items++}`;
      let token = createToken();
      for (const { kind, seconds } of steps) {
        time += seconds * 1000;
        const minute = Math.floor(time / 60_000);
        const window = { item, limit, burst, minute, expiresAt: time };
        if (kind === 'charge') token = createToken();
        if (kind === 'charge' || kind === 'again') await today.charge(window, token);
        else if (kind === 'old charge') await yesterday.charge(window, createToken());
        else if (kind === 'refund') await today.refund(item, createToken());
        else await yesterday.refund(item, minute, createToken());
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
  ['ADD used :one', 'attribute_exists(used)'],
  ['ADD used :one', 'used > :one OR used < :one'],
  ['ADD used :one', 'size(tokens) > :one'],
])('what the model does not know, it refuses: %s %s', (UpdateExpression, ConditionExpression) => {
  const values = { ':one': { N: '1' }, ':token': { SS: ['x'] } };
  const update = {
    UpdateExpression,
    ExpressionAttributeValues: values,
    ...(ConditionExpression && { ConditionExpression }),
  };
  expect(() => evaluateUpdate({ used: { N: '2' }, tokens: { SS: ['x'] } }, update)).toThrow('not known');
});
