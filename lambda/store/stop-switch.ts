import type { CallService } from './call-service.ts';
import { keysSchema } from './schema.ts';
import { createTable, type Item } from './table.ts';

/** While this item exists, the gateway is stopped. No deployment writes it, so none undoes it. */
const marker = 'stopped';

export interface Stop {
  /** When it was stopped, in ISO 8601. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string;
}

/** Reads from the keys table whether the gateway is stopped. */
export function createReadStop(callDynamoDb: CallService, tableName: string): () => Promise<Stop | undefined> {
  const { load } = createTable(callDynamoDb, keysSchema, tableName);
  return async () => toStop(await load(marker));
}

/** For operators. */
export interface StopSwitch {
  stop(stop: Stop): Promise<void>;
  /** The stop that was lifted; undefined if there was none. */
  resume(): Promise<Stop | undefined>;
}

export function createStopSwitch(callDynamoDb: CallService, tableName: string): StopSwitch {
  const key = { [keysSchema.partitionKey.name]: { S: marker } };
  return {
    stop: async ({ at, reason }) => {
      const item = { ...key, at: { S: at }, ...(reason !== undefined && { reason: { S: reason } }) };
      await callDynamoDb('PutItem', { TableName: tableName, Item: item });
    },
    resume: async () => {
      const input = { TableName: tableName, Key: key, ReturnValues: 'ALL_OLD' };
      return toStop((await callDynamoDb<{ readonly Attributes?: Item }>('DeleteItem', input)).Attributes);
    },
  };
}

/** An item that was put by hand may lack both fields. */
function toStop(item: Item | undefined): Stop | undefined {
  return item && { at: item.at?.S ?? '', ...(item.reason?.S && { reason: item.reason.S }) };
}
