import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CallService } from '../../lambda/aws/call-service.ts';
import { ServiceError } from '../../lambda/aws/repeat.ts';
import { createToken, type OpenReservation } from '../../lambda/store/counters.ts';
import { createCounters } from '../../lambda/store/dynamodb/counters.ts';
import type { Item, Update } from '../../lambda/store/dynamodb/table.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import fc from '../support/properties.ts';

let database: TestDynamoDb;
beforeAll(async () => {
  database = await startTestDynamoDb();
});
afterAll(() => database.close());

const firstMinute = 29_700_000;

const action = fc.record({
  kind: fc.constantFrom('charge', 'charge again', 'refund', 'settle', 'time passes'),
  which: fc.nat(3),
  limit: fc.constantFrom(0, 5),
  minutes: fc.constantFrom(1, 2, 40, 1_440, 100_000),
  reserve: fc.constantFrom(undefined, 0, 30, 60),
  hasBudget: fc.boolean(),
  hasPeriod: fc.boolean(),
});

test('the model of the store updates items exactly like the emulator', async () => {
  let [items, applied, refused] = [0, 0, 0];
  const property = async (actions: (typeof action extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const item = `item${items++}`;
    let known: Item = { pk: { S: item } };
    /** The emulator. Its response to each update must be the model's. */
    const compared: CallService = async <T extends object>(...[operation, input]: Parameters<CallService>) => {
      // The model is asked only about updates.
      if (operation === 'GetItem') return database.callDynamoDb<T>(operation, input);
      const expected = evaluateUpdate(known, input as Update);
      try {
        const answer = await database.callDynamoDb<{ readonly Attributes?: Item }>(operation, input);
        expect(sorted(answer.Attributes)).toEqual(sorted(expected));
        known = expected ?? known;
        applied += 1;
        return answer as T;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        expect([error.name, expected]).toEqual(['ConditionalCheckFailedException', undefined]);
        refused += 1;
        throw error;
      }
    };
    let minute = firstMinute;
    const counters = createCounters(compared, database.quotaTable, () => minute * 60_000);
    const charges: { readonly token: string; readonly reservation?: OpenReservation | undefined }[] = [];
    for (const { kind, which, limit, minutes, reserve, hasBudget, hasPeriod } of actions) {
      const day = Math.floor(minute / 1_440);
      const budget = { amount: 100, window: 'day', period: `d${day}`, resetAt: 0, reserve } as const;
      const ofDay = { ...(hasPeriod && { period: day }), ...(hasBudget && { budget }) };
      const window = { item, limit, burst: 3, minute, ...ofDay };
      const earlier = charges.at(-1 - which);
      if (kind === 'time passes') minute += minutes;
      else if (kind === 'refund' && earlier) await counters.refund(window, earlier.token);
      else if (kind === 'settle' && earlier?.reservation) {
        const used = { kind: 'vision', input: 3, output: 2 } as const;
        await counters.settle(window, earlier.reservation, { spent: 7, refunded: hasPeriod, used });
      } else if (kind.startsWith('charge')) {
        const token = kind === 'charge again' && earlier ? earlier.token : createToken();
        const result = await counters.charge(window, token);
        charges.push({ token, ...(result.granted && { reservation: result.reservation }) });
      }
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), property), { numRuns: 60 });
  expect([applied > 100, refused > 100]).toEqual([true, true]);
});

/** Sets are unordered. */
const sorted = (item: Item = {}) =>
  new Map(Object.entries(item).map(([name, { BS, ...rest }]) => [name, BS ? new Set(BS) : rest]));
