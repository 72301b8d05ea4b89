import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { CallService } from './call-service.ts';
import type { TableSchema } from './schema.ts';
import { createTimeLimit } from './time-limit.ts';

/** An item as it travels: each value under its type. */
export type Item = Readonly<Record<string, AttributeValue>>;

export type Update = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

/** A table of the hot path. */
export interface Table {
  /** Reads what was written last, however short ago. */
  load(key: string): Promise<Item | undefined>;
  /** What the update wants returned, if it does. */
  update(key: string, update: Update): Promise<Item | undefined>;
}

export function createTable(callDynamoDb: CallService, schema: TableSchema, tableName: string): Table {
  const withinTimeLimit = createTimeLimit();
  const address = (key: string) => ({ TableName: tableName, Key: { [schema.partitionKey.name]: { S: key } } });
  const call = <Output extends object>(operation: string, input: object) =>
    withinTimeLimit(({ abortSignal }) => callDynamoDb<Output>(operation, input, abortSignal));

  return {
    async load(key) {
      const input = { ...address(key), ConsistentRead: true };
      return (await call<{ readonly Item?: Item }>('GetItem', input)).Item;
    },
    async update(key, update) {
      const input = { ...address(key), ...update };
      return (await call<{ readonly Attributes?: Item }>('UpdateItem', input)).Attributes;
    },
  };
}
