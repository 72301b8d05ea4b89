import type { NetworkLink } from '../../identity/identify.ts';
import type { KeyRecord } from '../../identity/issued-keys.ts';
import { keyOf, linkOf, marker, recordOf } from '../dynamodb/keys.ts';
import type { PlainItem } from '../dynamodb/read-item.ts';
import { keysSchema } from '../dynamodb/schema.ts';
import type { KeyChanges, KeyStore } from '../store.ts';
import type { Documents } from './documents.ts';
import { createItems } from './items.ts';

const partitionKey = keysSchema.partitionKey.name;
const [idIndex, memberIndex] = keysSchema.indexes;

export function createKeyStore(documents: Documents, tableName: string): KeyStore {
  const table = createItems(documents, tableName);

  const findItem = async (id: string): Promise<PlainItem | undefined> => (await table.query(idIndex, id))[0];

  const change = async (id: string, changes: PlainItem, expression = updateOf(changes)) => {
    const item = await findItem(id);
    if (!item) return undefined;
    const entries = Object.entries(changes);
    const values = entries.flatMap(([name, value]) => (value === undefined ? [] : [[`:${name}`, value]]));
    const changed = await table.update(String(item[partitionKey]), {
      UpdateExpression: expression,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
      ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
    });
    return recordOf<KeyRecord>(changed);
  };

  return {
    findKey: async (hash: string) => recordOf<KeyRecord>(await table.read(keyOf(hash))),
    findLink: async (networkId: string) => recordOf<NetworkLink>(await table.read(linkOf(networkId))),
    findById: async (id: string) => recordOf<KeyRecord>(await findItem(id)),
    anyKeyIssued: async () => (await table.read(marker)) !== undefined,

    put: async (hash: string, record: KeyRecord): Promise<void> => {
      // The marker first, so that no key exists without it. Idempotent.
      await table.put(marker, {});
      await table.put(keyOf(hash), record);
    },

    listStored: async () =>
      (await table.scan(idIndex)).map((item) => ({
        hash: String(item[partitionKey]).slice(keyOf('').length),
        record: recordOf<KeyRecord>(item),
      })),

    list: async (member?: string): Promise<readonly KeyRecord[]> => {
      const items = await (member === undefined ? table.scan(idIndex) : table.query(memberIndex, member));
      return items.map((item) => recordOf<KeyRecord>(item));
    },

    revoke: (id: string, now: number) =>
      change(id, { revokedAt: now }, 'SET #revokedAt = if_not_exists(#revokedAt, :revokedAt)'),
    change: (id: string, changes: KeyChanges) => change(id, { ...changes }),

    link: (networkId: string, link: NetworkLink) => table.put(linkOf(networkId), link, link.expiresAt),
    unlink: async (networkId: string) => recordOf<NetworkLink>(await table.remove(linkOf(networkId))),
  };
}

/** Sets fields with a value, and removes those that are undefined. */
function updateOf(changes: PlainItem): string {
  const names = Object.keys(changes);
  const [set, removed] = [true, false].map((isSet) => names.filter((name) => (changes[name] !== undefined) === isSet));
  return [
    ...(set?.length ? [`SET ${set.map((name) => `#${name} = :${name}`).join(', ')}`] : []),
    ...(removed?.length ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
  ].join(' ');
}
