import type { CallService } from '../../aws/call-service.ts';
import type { NetworkLink } from '../../identity/identify.ts';
import type { KeyRecord } from '../../identity/issued-keys.ts';
import type { KeyReader } from '../store.ts';
import { createReadItem, type PlainItem } from './read-item.ts';
import { keysSchema } from './schema.ts';

/** Partition keys. */
export const marker = 'issued';
export const keyOf = (hash: string) => `key#${hash}`;
export const linkOf = (networkId: string) => `link#${networkId}`;

/** Drops the table's own attributes. The cast is safe because only the admin store writes the table. */
export function recordOf<T>(item: PlainItem): T;
export function recordOf<T>(item: PlainItem | undefined): T | undefined;
export function recordOf<T>(item: PlainItem | undefined): T | undefined {
  if (item === undefined) return undefined;
  const { [keysSchema.partitionKey.name]: _, [keysSchema.ttlAttribute]: __, ...rest } = item;
  return rest as T;
}

export function createKeyReader(callDynamoDb: CallService, tableName: string): KeyReader {
  const read = createReadItem(callDynamoDb, tableName);
  return {
    findKey: async (hash: string) => recordOf<KeyRecord>(await read(keyOf(hash))),
    findLink: async (networkId: string) => recordOf<NetworkLink>(await read(linkOf(networkId))),
    anyKeyIssued: async () => (await read(marker)) !== undefined,
  };
}
