import type { CallService } from './call-service.ts';
import { keysSchema } from './schema.ts';
import { createTable, type Item } from './table.ts';

/** The item that stops a gateway while it is there. No deployment writes it, so none undoes it. */
const marker = 'stopped';

export interface Stop {
  /** When it was stopped, as ISO 8601 writes it. */
  readonly at: string;
  /** What callers are told about it. */
  readonly reason?: string;
}

/** Reads whether the gateway is to answer, from the keys table. */
export function createReadStop(callDynamoDb: CallService, tableName: string): () => Promise<Stop | undefined> {
  const { load } = createTable(callDynamoDb, keysSchema, tableName);
  return async () => toStop(await load(marker));
}

/** For operators. */
export interface StopSwitch {
  stop(stop: Stop): Promise<void>;
  /** What was stopped; undefined where nothing was. */
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

/** By hand the item may have been put without a word. */
function toStop(item: Item | undefined): Stop | undefined {
  return item && { at: item.at?.S ?? '', ...(item.reason?.S && { reason: item.reason.S }) };
}
