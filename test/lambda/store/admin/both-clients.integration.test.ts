import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ServiceError } from '../../../../lambda/aws/repeat.ts';
import { inTime } from '../../../../lambda/store/admin/documents.ts';
import { createKeyStore } from '../../../../lambda/store/admin/keys.ts';
import { createReadItem, toPlain } from '../../../../lambda/store/dynamodb/read-item.ts';
import type { Item } from '../../../../lambda/store/dynamodb/table.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../../../support/dynamodb.ts';
import fc from '../../../support/properties.ts';
import { testRows } from '../../../support/test-rows.ts';

let database: TestDynamoDb;
beforeAll(async () => {
  database = await startTestDynamoDb();
});
afterAll(() => database.close());

type Plain = Readonly<Record<string, unknown>>;
type Update = Pick<
  UpdateCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues' | 'ReturnValues'
>;

/** The outcome of an operation: its result, or the name of its error and the item that failed the condition. */
interface Outcome {
  readonly item?: Plain | undefined;
  readonly error?: string;
}

/** A client with its own items. */
interface Client {
  update(key: string, update: Update): Promise<Outcome>;
  read(key: string): Promise<Plain | undefined>;
}

const returned = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** The gateway's own client, with values in wire format. */
const own = (): Client => {
  const { callDynamoDb, quotaTable: TableName } = database;
  return {
    async update(key, { ExpressionAttributeValues: values, ...update }) {
      const stored = values && { ExpressionAttributeValues: toStored(values) };
      const input = { TableName, Key: { pk: { S: key } }, ...update, ...stored, ...whereItCanFail(update) };
      try {
        const { Attributes: item } = await callDynamoDb<{ Attributes?: Item }>('UpdateItem', input);
        return { item: item && toPlain(item) };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const refusing = error.details.Item as Item | undefined;
        return { error: error.name, item: refusing && toPlain(refusing) };
      }
    },
    read: createReadItem(callDynamoDb, TableName),
  };
};

/** The AWS SDK's document client, with plain values. */
const ofAws = (): Client => {
  const { documents, quotaTable: TableName } = database;
  return {
    async update(key, update) {
      const command = new UpdateCommand({ TableName, Key: { pk: key }, ...update, ...whereItCanFail(update) });
      let refusing: Item | undefined;
      const send = (abortSignal: AbortSignal) =>
        documents.send(command, { abortSignal }).catch((error: unknown) => {
          if (error instanceof ConditionalCheckFailedException) refusing = error.Item as Item | undefined;
          throw error;
        });
      try {
        const { Attributes: item } = await inTime(send);
        return { item };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return { error: error.name, item: refusing && toPlain(refusing) };
      }
    },
    read: async (key) => (await documents.send(new GetCommand({ TableName, Key: { pk: key } }))).Item,
  };
};

const whereItCanFail = ({ ConditionExpression }: Update) => (ConditionExpression ? returned : {});

/** After a round trip through JSON. */
const toStored = (values: Plain): Item => JSON.parse(JSON.stringify(marshall(values)));

/** An item as stored, byte for byte. */
async function bytesOf(pk: string): Promise<string> {
  const input = { TableName: database.quotaTable, Key: { pk: { S: pk } } };
  const { Item = {} } = await database.callDynamoDb<{ Item?: Item }>('GetItem', input);
  return JSON.stringify(
    Object.entries({ ...Item, pk: undefined }).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Runs the same updates with both clients, each on its own item, and reads both items with both. */
async function expectAlike(key: string, updates: readonly Update[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const update of updates) {
    const [byOwn, byAws] = [await own().update(`own ${key}`, update), await ofAws().update(`aws ${key}`, update)];
    expect(nameless(byAws)).toEqual(nameless(byOwn));
    outcomes.push(byOwn);
  }
  expect(await bytesOf(`aws ${key}`)).toBe(await bytesOf(`own ${key}`));
  for (const name of [`own ${key}`, `aws ${key}`]) expect(await own().read(name)).toEqual(await ofAws().read(name));
  return outcomes;
}

const nameless = ({ item, ...rest }: Outcome) => ({ ...rest, item: item && { ...item, pk: undefined } });

const set = (values: Plain): Update => {
  const entries = Object.entries(values);
  return {
    UpdateExpression: `SET ${entries.map((_, index) => `#n${index} = :v${index}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name], index) => [`#n${index}`, name])),
    ExpressionAttributeValues: Object.fromEntries(entries.map(([, value], index) => [`:v${index}`, value])),
    ReturnValues: 'ALL_NEW',
  };
};

const numbers = [0, -0, 1, -1, 0.1, 1e-130, -1.5e-100, 2 ** 53 - 1, -(2 ** 53 - 1), 1_795_305_600, 1e-7];
const texts = ['', ' ', '\u0000', '"\\', 'ünï', '\u{1f642}', '\ud800'.toWellFormed(), 'ttl', '__proto__'];
// Reserved words, and names that need a placeholder.
const names = ['ttl', 'name', 'key', 'member', 'data', 'size', 'a.b', 'h1.AAAA=', ' ', 'ü', 'toString'];

const scalar = fc.oneof(
  fc.constantFrom(...texts),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(...numbers),
  fc.maxSafeInteger(),
  fc.boolean(),
);
const textSet = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }).map((all) => new Set(all));
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 3 }, scalar, textSet, fc.array(tie('any'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 3, noNullPrototype: true }),
})).any;
const values = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 5, noNullPrototype: true });

test('what one client writes the other reads, and the items are the same byte for byte', async () => {
  let items = 0;
  const property = fc.asyncProperty(values, values, async (first, second) => {
    items += 1;
    const outcomes = await expectAlike(`item ${items}`, [set(first), set(second)]);
    expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
  });
  await fc.assert(property, { numRuns: 50 });
});

const counted = { ':one': 1, ':limit': 2 };
const condition = { ConditionExpression: 'NOT used >= :limit' };

testRows<[string, updates: Update[], outcomes: object[]]>([
  [
    'a failed condition returns the item',
    Array(3).fill({ UpdateExpression: 'ADD used :one', ...condition, ExpressionAttributeValues: counted }),
    [{}, {}, { error: 'ConditionalCheckFailedException', item: { used: 2 } }],
  ],
  [
    'a failed condition on a missing item returns none',
    [{ UpdateExpression: 'SET a = :one', ConditionExpression: 'a = :one', ExpressionAttributeValues: { ':one': 1 } }],
    [{ error: 'ConditionalCheckFailedException', item: undefined }],
  ],
  [
    'sets grow and shrink, up to their end',
    [
      { UpdateExpression: 'ADD live :a', ExpressionAttributeValues: { ':a': new Set(['x', 'y']) } },
      { UpdateExpression: 'ADD live :a', ExpressionAttributeValues: { ':a': new Set(['y', 'z']) } },
      { UpdateExpression: 'DELETE live :a', ExpressionAttributeValues: { ':a': new Set(['x', 'y', 'z']) } },
    ],
    [{}, {}, {}],
  ],
  [
    'the item before an update, if there is one',
    [1, 2].map((number) => ({
      ...{ UpdateExpression: 'SET a = :a', ReturnValues: 'ALL_OLD' as const },
      ExpressionAttributeValues: { ':a': number },
    })),
    [{ item: undefined }, { item: { a: 1 } }],
  ],
  [
    'an invalid expression is refused',
    [{ UpdateExpression: 'SET ttl = :a', ExpressionAttributeValues: { ':a': 1 } }, { UpdateExpression: 'GET a' }],
    [{ error: 'ValidationException' }, { error: 'ValidationException' }],
  ],
])('both clients behave alike', async (name, updates, outcomes) => {
  expect(await expectAlike(name, updates)).toMatchObject(outcomes);
});

test('keys and links are found in the form that deployed tables have', async () => {
  const { documents, keysTable } = database;
  const store = createKeyStore(documents, keysTable);
  const put = (pk: string, values: object) =>
    documents.send(new PutCommand({ TableName: keysTable, Item: { ...values, pk } }));
  const record = { id: 'key_1', member: 'alice', createdAt: 1000 };
  await put('key#hash1', record);
  await put('link#network1', { member: 'alice', linkedAt: 0, expiresAt: 10, ttl: 1_800_000_000 });
  await put('issued', {});
  expect(await store.findKey('hash1')).toEqual(record);
  expect(await store.findLink('network1')).toEqual({ member: 'alice', linkedAt: 0, expiresAt: 10 });
  expect(await store.anyKeyIssued()).toBe(true);
});
