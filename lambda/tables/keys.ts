import type { CallService } from '../aws/call-service.ts';
import type { NetworkLink } from '../identity/identify.ts';
import type { KeyRecord, KeyRequest } from '../identity/keys.ts';
import { createItems, type Item, type Items } from './items.ts';
import { keysSchema } from './schema.ts';

/** What can be changed about a key. */
export type KeyChanges = Partial<Omit<KeyRequest, 'member' | 'label'>>;

export type KeyStore = ReturnType<typeof createKeyStore>;

const partitionKey = keysSchema.partitionKey.name;
const [idIndex, memberIndex] = keysSchema.indexes;

/** A page that a slow connection, too, brings within the time limit of a call. */
const mostAtOnce = 1_000;

/** The keys of the items. */
const marker = 'issued';
export const keyOf = (hash: string) => `key#${hash}`;
const linkOf = (networkId: string) => `link#${networkId}`;

/** Only this folder writes the table, so the items have its types. */
function withoutStorage<T>(item: Item): T;
function withoutStorage<T>(item: Item | undefined): T | undefined;
function withoutStorage<T>(item: Item | undefined): T | undefined {
  if (item === undefined) return undefined;
  const { [partitionKey]: _, [keysSchema.ttlAttribute]: __, ...rest } = item;
  return rest as T;
}

/** Keys and linked networks in the keys table. */
export function createKeyStore(callDynamoDb: CallService, tableName: string) {
  const table = createItems(callDynamoDb, tableName);

  const findItem = async (id: string): Promise<Item | undefined> => (await table.query(idIndex, id)).items[0];

  const change = async (id: string, changes: Item, expression = updateOf(changes)) => {
    const item = await findItem(id);
    if (!item) return undefined;
    const entries = Object.entries(changes);
    const values = entries.flatMap(([name, value]) => (value === undefined ? [] : [[`:${name}`, value]]));
    const changed = await table.update(String(item[partitionKey]), {
      UpdateExpression: expression,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
      ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
    });
    return withoutStorage<KeyRecord>(changed);
  };

  return {
    findKey: async (hash: string) => withoutStorage<KeyRecord>(await table.read(keyOf(hash))),
    findLink: async (networkId: string) => withoutStorage<NetworkLink>(await table.read(linkOf(networkId))),
    findById: async (id: string) => withoutStorage<KeyRecord>(await findItem(id)),
    anyKeyIssued: async () => (await table.read(marker)) !== undefined,

    put: async (hash: string, record: KeyRecord): Promise<void> => {
      // The marker first: there is never a key without it. Writing it again changes nothing.
      await table.put(marker, {});
      await table.put(keyOf(hash), record);
    },

    /** All of them, or those of one member, newest first. */
    list: (member?: string) => listKeys(table, member),

    /** Undefined if there is no such key. A key that was revoked before keeps its first date. */
    revoke: (id: string, now: number) =>
      change(id, { revokedAt: now }, 'SET #revokedAt = if_not_exists(#revokedAt, :revokedAt)'),
    /** What becomes undefined is as if the key had been issued without it. Undefined if there is no such key. */
    change: (id: string, changes: KeyChanges) => change(id, { ...changes }),

    /** Replaces an earlier link of the network. */
    link: (networkId: string, link: NetworkLink) => table.put(linkOf(networkId), link, link.expiresAt),
    /** The link that there was; undefined if there was none. */
    unlink: async (networkId: string) => withoutStorage<NetworkLink>(await table.remove(linkOf(networkId))),
  };
}

async function listKeys(table: Items, member: string | undefined): Promise<readonly KeyRecord[]> {
  const found: KeyRecord[] = [];
  let position: Item | undefined;
  do {
    const page = { Limit: mostAtOnce, ...(position && { ExclusiveStartKey: position }) };
    const read = await (member === undefined ? table.scan(idIndex, page) : table.query(memberIndex, member, page));
    found.push(...read.items.map((item) => withoutStorage<KeyRecord>(item)));
    position = read.next;
  } while (position);
  return found;
}

/** Sets what has a value, and removes the rest. */
function updateOf(changes: Item): string {
  const names = Object.keys(changes);
  const [set, removed] = [true, false].map((isSet) => names.filter((name) => (changes[name] !== undefined) === isSet));
  return [
    ...(set?.length ? [`SET ${set.map((name) => `#${name} = :${name}`).join(', ')}`] : []),
    ...(removed?.length ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
  ].join(' ');
}
