import type { CallService } from '../aws/call-service.ts';
import type { TableSchema } from './schema.ts';
import { createTimeLimit } from './time-limit.ts';

/** A value in wire form, under its type; bytes are in base64. */
export interface Value {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly SS?: readonly string[];
  readonly BS?: readonly string[];
  readonly L?: readonly Value[];
  readonly M?: Item;
}

export type Item = Readonly<Record<string, Value>>;

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
  /** Returns what the update asks for. The update is created when its turn comes, so that it may contain the time. */
  update(key: string, createUpdate: () => Update): Promise<Item | undefined>;
}

export function createTable(callDynamoDb: CallService, schema: TableSchema, tableName: string): Table {
  const withinTimeLimit = createTimeLimit();
  const address = (key: string) => ({ TableName: tableName, Key: { [schema.partitionKey.name]: { S: key } } });
  const call = <Output extends object>(operation: string, createInput: () => object) =>
    withinTimeLimit(({ abortSignal }) => callDynamoDb<Output>(operation, createInput(), abortSignal));

  return {
    async load(key) {
      const input = { ...address(key), ConsistentRead: true };
      return (await call<{ readonly Item?: Item }>('GetItem', () => input)).Item;
    },
    async update(key, createUpdate) {
      const createInput = () => ({ ...address(key), ...createUpdate() });
      return (await call<{ readonly Attributes?: Item }>('UpdateItem', createInput)).Attributes;
    },
  };
}
