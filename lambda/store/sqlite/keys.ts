import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { NetworkLink } from '../../identity/identify.ts';
import type { KeyRecord } from '../../identity/issued-keys.ts';
import type { KeyChanges, StoredKey } from '../store.ts';

type Row = Record<string, SQLOutputValue>;

const columns = [
  ...['hash', 'id', 'member', 'label', 'limit', 'budget', 'budgetWindow'],
  ...['models', 'burst', 'createdAt', 'expiresAt', 'renewable', 'revokedAt'],
] as const;

/** Issued keys and linked networks. */
export function createKeys(database: DatabaseSync) {
  const names = columns.map((name) => `"${name}"`).join(', ');
  const put = database.prepare(`REPLACE INTO keys (${names}) VALUES (${columns.map(() => '?').join(', ')})`);
  const byHash = database.prepare('SELECT * FROM keys WHERE hash = ?');
  const byId = database.prepare('SELECT * FROM keys WHERE id = ?');
  const any = database.prepare('SELECT 1 FROM keys LIMIT 1');
  const all = database.prepare('SELECT * FROM keys ORDER BY createdAt DESC');
  const ofMember = database.prepare('SELECT * FROM keys WHERE member = ? ORDER BY createdAt DESC');
  const revoke = database.prepare('UPDATE keys SET revokedAt = coalesce(revokedAt, ?) WHERE id = ?');
  const link = database.prepare('REPLACE INTO links (network, member, linkedAt, expiresAt) VALUES (?, ?, ?, ?)');
  const findLink = database.prepare('SELECT member, linkedAt, expiresAt FROM links WHERE network = ?');
  const unlink = database.prepare('DELETE FROM links WHERE network = ? RETURNING member, linkedAt, expiresAt');

  const putKey = (hash: string, record: KeyRecord): void => {
    const row: Record<string, unknown> = { ...record, hash };
    put.run(...columns.map((name) => toColumn(row[name])));
  };
  const findById = (id: string) => toRecord(byId.get(id));

  return {
    findKey: (hash: string) => toRecord(byHash.get(hash)),
    findById,
    findLink: (networkId: string) => toLink(findLink.get(networkId)),
    anyKeyIssued: () => any.get() !== undefined,
    put: putKey,
    list: (member?: string): KeyRecord[] =>
      (member === undefined ? all.all() : ofMember.all(member)).flatMap((row) => toRecord(row) ?? []),

    listStored: (): StoredKey[] =>
      all.all().flatMap((row) => {
        const record = toRecord(row);
        return record ? { hash: String(row.hash), record } : [];
      }),

    revoke(id: string, now: number): KeyRecord | undefined {
      revoke.run(now, id);
      return findById(id);
    },

    change(id: string, changes: KeyChanges): KeyRecord | undefined {
      const row = byId.get(id);
      const found = toRecord(row);
      if (row === undefined || found === undefined) return undefined;
      putKey(String(row.hash), { ...found, ...changes });
      return findById(id);
    },

    link: (networkId: string, { member, linkedAt, expiresAt }: NetworkLink): void =>
      void link.run(networkId, member, linkedAt, expiresAt),
    unlink: (networkId: string) => toLink(unlink.get(networkId)),
  };
}

function toColumn(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value === true) return 1;
  return value === undefined ? null : JSON.stringify(value);
}

function toRecord(row: Row | undefined): KeyRecord | undefined {
  if (row === undefined) return undefined;
  const { hash: _, models, renewable, ...rest } = withoutNull(row);
  const parsed = {
    ...(typeof models === 'string' && { models: JSON.parse(models) }),
    ...(renewable !== undefined && { renewable: true }),
  };
  return { ...rest, ...parsed } as unknown as KeyRecord;
}

const toLink = (row: Row | undefined): NetworkLink | undefined => row && ({ ...row } as unknown as NetworkLink);

/** A row without its NULL columns. */
export function withoutNull(row: Row): Record<string, SQLOutputValue> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
