import type { CallService } from '../aws/call-service.ts';
import { keysSchema } from './schema.ts';
import { createTable, type Item } from './table.ts';

/** While this item exists, the gateway is stopped. No deployment writes it, so none undoes it. */
const marker = 'stopped';

export interface Stop {
  /** When it was stopped, in ISO 8601; empty if the item was put by hand without it. */
  readonly at: string;
  /** Shown to callers. */
  readonly reason?: string | undefined;
  /** The stops before this one that nobody had lifted, the oldest first. */
  readonly earlier?: readonly Stop[] | undefined;
}

/** Reads from the keys table whether the gateway is stopped. */
export function createReadStop(callDynamoDb: CallService, tableName: string): () => Promise<Stop | undefined> {
  const { load } = createTable(callDynamoDb, keysSchema, tableName);
  return async () => toStop(await load(marker));
}

/** For operators. */
export interface StopSwitch {
  /** Returns the stop as it now stands, with those before it. */
  stop(stop: Stop): Promise<Stop>;
  /** The stop that was lifted; undefined if there was none. */
  resume(): Promise<Stop | undefined>;
}

export function createStopSwitch(callDynamoDb: CallService, tableName: string): StopSwitch {
  const key = { [keysSchema.partitionKey.name]: { S: marker } };
  const readStop = createReadStop(callDynamoDb, tableName);
  return {
    stop: async ({ at, reason }) => {
      const before = await readStop();
      const earlier = before && [...(before.earlier ?? []), { ...before, earlier: undefined }];
      const stop = { at, reason, earlier };
      await callDynamoDb('PutItem', { TableName: tableName, Item: { ...key, ...toItem(stop) } });
      return stop;
    },
    resume: async () => {
      const input = { TableName: tableName, Key: key, ReturnValues: 'ALL_OLD' };
      return toStop((await callDynamoDb<{ readonly Attributes?: Item }>('DeleteItem', input)).Attributes);
    },
  };
}

function toItem({ at, reason, earlier }: Stop): Item {
  return {
    at: { S: at },
    ...(reason !== undefined && { reason: { S: reason } }),
    ...(earlier && { earlier: { L: earlier.map((stop) => ({ M: toItem(stop) })) } }),
  };
}

/** An item that was put by hand may lack all fields. */
function toStop(item: Item | undefined): Stop | undefined {
  if (item === undefined) return undefined;
  const { at, reason, earlier } = item;
  const stops = earlier?.L?.flatMap(({ M }) => toStop(M) ?? []);
  return { at: at?.S ?? '', ...(reason?.S && { reason: reason.S }), ...(stops && { earlier: stops }) };
}
