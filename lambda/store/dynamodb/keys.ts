import type { CallService } from '../../aws/call-service.ts';
import type { NetworkLink } from '../../identity/identify.ts';
import type { KeyRecord } from '../../identity/issued-keys.ts';
import type { KeyReader } from '../store.ts';
import { createReadItem, type PlainItem } from './read-item.ts';
import { keysSchema } from './schema.ts';

/** The keys of the items. */
export const marker = 'issued';
export const keyOf = (hash: string) => `key#${hash}`;
export const linkOf = (networkId: string) => `link#${networkId}`;

/** What is of the table alone is left out. Only the admin store writes the table, so the items have its types. */
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
