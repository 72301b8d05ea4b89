import type { CallService } from '../aws/call-service.ts';
import type { IdentityStore, KeyRecord, NetworkLink } from '../identity/identity.ts';
import { keysSchema } from './schema.ts';
import { createTable } from './table.ts';

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
  const { load } = createTable(callDynamoDb, keysSchema, tableName);
  return createIdentityStore(async (key) => {
    const item = await load(key);
    // An identity has texts, numbers and lists of texts, nothing else.
    const plain = Object.entries(item ?? {}).map(([name, { S, N, L }]) => [
      name,
      S ?? L?.map((one) => one.S) ?? Number(N),
    ]);
    return item && Object.fromEntries(plain);
  });
}

/** Only this folder writes the table, so the items have its types. */
export function withoutStorage<T>(values: Values): T {
  const { [keysSchema.partitionKey.name]: _, [keysSchema.ttlAttribute]: __, ...rest } = values;
  return rest as T;
}
