import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { CallService } from '../../aws/call-service.ts';
import { keysSchema } from './schema.ts';
import { createTable, type Item } from './table.ts';

/** An item with plain values. */
export type PlainItem = Readonly<Record<string, unknown>>;

export const toPlain = (item: Item): PlainItem => unmarshall(item as Parameters<typeof unmarshall>[0]);

/** Reads from the keys table, which the gateway never writes. Reads are consistent, so a new key or link works right away. */
export function createReadItem(callDynamoDb: CallService, tableName: string) {
  const { load } = createTable(callDynamoDb, keysSchema, tableName);
  return async (key: string): Promise<PlainItem | undefined> => {
    const item = await load(key);
    return item && toPlain(item);
  };
}
