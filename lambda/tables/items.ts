import type { CallService } from '../aws/call-service.ts';
import { isConditionFailure } from '../aws/repeat.ts';
import { keysSchema } from './schema.ts';
import { createTable, type Item as StoredItem, type Update as StoredUpdate, type Value } from './table.ts';

/** An item with plain values: texts, numbers, truths, lists, sets of texts, and objects of these. What is undefined is left out. */
export type Item = Readonly<Record<string, unknown>>;

export type Index = (typeof keysSchema.indexes)[number];

/** How many items a query or scan reads at once, and from where on. */
interface Page {
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Item;
}

type Update = Omit<StoredUpdate, 'ExpressionAttributeValues'> & { readonly ExpressionAttributeValues?: Item };

export type Items = ReturnType<typeof createItems>;

/** The items of the keys table. */
export function createItems(callDynamoDb: CallService, tableName: string) {
  const { call, load, update, address } = createTable(callDynamoDb, keysSchema, tableName);

  const search = async (operation: 'Query' | 'Scan', index: Index, page: Page, condition?: object) => {
    const { ExclusiveStartKey: from } = page;
    type Answer = { readonly Items?: readonly StoredItem[]; readonly LastEvaluatedKey?: StoredItem };
    const { Items = [], LastEvaluatedKey } = await call<Answer>(operation, {
      ...{ TableName: tableName, IndexName: index.name, ...page, ...condition },
      ...(from && { ExclusiveStartKey: toStored(from) }),
    });
    /** `next` is where the next page begins; absent on the last one. */
    return { items: Items.map(toPlain), next: LastEvaluatedKey && toPlain(LastEvaluatedKey) };
  };

  /** Returns the item after the update, unless it asks for the one before; undefined if its condition does not hold. */
  const updateItem = async (key: string, { ExpressionAttributeValues: values, ...rest }: Update) => {
    const stored = values && { ExpressionAttributeValues: toStored(values) };
    try {
      const item = await update(key, { ReturnValues: 'ALL_NEW', ...rest, ...stored });
      return item && toPlain(item);
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  };

  return {
    /** Reads what was written last: a key or a link works on the first request after it was made. */
    async read(key: string): Promise<Item | undefined> {
      const item = await load(key);
      return item && toPlain(item);
    },

    /** DynamoDB deletes the item some time after it has expired. Times are epoch milliseconds. */
    async put(key: string, values: object, expiresAt?: number): Promise<void> {
      const ttl = expiresAt === undefined ? {} : { [keysSchema.ttlAttribute]: Math.ceil(expiresAt / 1000) };
      const { TableName, Key } = address(key);
      await call('PutItem', { TableName, Item: { ...toStored({ ...values, ...ttl }), ...Key } });
    },

    update: updateItem,

    /** Whether the condition of the update held. */
    tryUpdate: async (key: string, input: Update): Promise<boolean> => (await updateItem(key, input)) !== undefined,

    /** Returns the item that there was. */
    async remove(key: string): Promise<Item | undefined> {
      type Answer = { readonly Attributes?: StoredItem };
      const { Attributes: item } = await call<Answer>('DeleteItem', { ...address(key), ReturnValues: 'ALL_OLD' });
      return item && toPlain(item);
    },

    /** Reads those with this value in an index, the last ones first. */
    query: (index: Index, value: string, page: Page = {}) =>
      search('Query', index, page, {
        ScanIndexForward: false,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': index.partitionKey.name },
        ExpressionAttributeValues: toStored({ ':key': value }),
      }),

    scan: (index: Index, page: Page) => search('Scan', index, page),
  };
}

/**
 * The condition for what serves once and in time: nobody has left another token under this name. A repeated write finds the token
 * that it left itself.
 */
export const isFree = (name: string) => `expiresAt > :now AND (attribute_not_exists(${name}) OR ${name} = :token)`;

function toStored(item: Item): StoredItem {
  const values = Object.entries(item).filter(([, value]) => value !== undefined);
  return Object.fromEntries(values.map(([name, value]) => [name, toValue(value)]));
}

function toValue(value: unknown): Value {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Set) return { SS: [...value] };
  if (Array.isArray(value)) return { L: value.map(toValue) };
  if (typeof value === 'object' && value !== null) return { M: toStored({ ...value }) };
  throw new TypeError(`a ${typeof value} has no form in the table`);
}

function toPlain(item: StoredItem): Item {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue({ S, N, BOOL, SS, L, M }: Value): unknown {
  if (N !== undefined) return Number(N);
  if (BOOL !== undefined) return BOOL;
  if (M) return toPlain(M);
  return SS ? new Set(SS) : (S ?? L?.map(plainValue));
}
