import type { CallService } from '../aws/call-service.ts';
import type { IdentityStore, KeyRecord, NetworkLink } from '../identity/identity.ts';
import { createItems } from './items.ts';
import { keysSchema } from './schema.ts';

/** The keys of identities in the keys table. */
export const marker = 'issued';
export const keyOf = (hash: string) => `key#${hash}`;
export const linkOf = (networkId: string) => `link#${networkId}`;

type Values = Readonly<Record<string, unknown>>;

/** Reads identities, with any way to read items. */
export function createIdentityStore(read: (key: string) => Promise<Values | undefined>): IdentityStore {
  const find = async <T>(key: string): Promise<T | undefined> => {
    const values = await read(key);
    return values && withoutStorage<T>(values);
  };
  return {
    findKey: (hash) => find<KeyRecord>(keyOf(hash)),
    findLink: (networkId) => find<NetworkLink>(linkOf(networkId)),
    anyKeyIssued: async () => (await read(marker)) !== undefined,
  };
}

/** Reads identities on the hot path. */
export function readIdentities(callDynamoDb: CallService, tableName: string): IdentityStore {
  return createIdentityStore(createItems(callDynamoDb, tableName).read);
}

/** Only this folder writes the table, so the items have its types. */
export function withoutStorage<T>(values: Values): T {
  const { [keysSchema.partitionKey.name]: _, [keysSchema.ttlAttribute]: __, ...rest } = values;
  return rest as T;
}
