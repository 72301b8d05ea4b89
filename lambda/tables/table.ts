import type { CallService } from '../aws/call-service.ts';
import type { TableSchema } from './schema.ts';
import { createTimeLimit } from './time-limit.ts';

/** A value in wire form, under its type; bytes are in base64. */
export interface Value {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly BS?: readonly string[];
  readonly L?: readonly Value[];
  readonly M?: Item;
}

export type Item = Readonly<Record<string, Value>>;

export const numberValue = (number: number): Value => ({ N: String(number) });

/** The input of UpdateItem without the table and the key. */
export interface Update {
  readonly UpdateExpression: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
  readonly ReturnValues?: 'ALL_NEW';
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

/** A table of the hot path. */
export interface Table {
  /** Reads what was written last, even if that was a moment ago. */
  load(key: string): Promise<Item | undefined>;
  /** Returns what the update asks for. */
  update(key: string, update: Update): Promise<Item | undefined>;
}

export function createTable(callDynamoDb: CallService, schema: TableSchema, tableName: string): Table {
  const withinTimeLimit = createTimeLimit();
  const address = (key: string) => ({ TableName: tableName, Key: { [schema.partitionKey.name]: { S: key } } });
  const call = <Output extends object>(operation: string, input: object) =>
    withinTimeLimit(({ abortSignal }) => callDynamoDb<Output>(operation, input, abortSignal));

  return {
    async load(key) {
      return (await call<{ readonly Item?: Item }>('GetItem', { ...address(key), ConsistentRead: true })).Item;
    },
    async update(key, update) {
      return (await call<{ readonly Attributes?: Item }>('UpdateItem', { ...address(key), ...update })).Attributes;
    },
  };
}

/** The bytes that one write unit covers. */
const unitBytes = 1024;

/** The units of a write to an item of this many bytes, before or after it. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / unitBytes));
}

/** The bytes of an item, its names included, as DynamoDB counts them. It does not document sets: they count like lists here. */
export function itemSize(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + name.length + valueSize(value), 0);
}

function valueSize({ S, N, BS }: Value): number {
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (BS !== undefined) return BS.reduce((size, element) => size + Buffer.byteLength(element, 'base64') + 1, 3);
  return Buffer.byteLength(S ?? '');
}
