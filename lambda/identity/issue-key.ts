import { hashKey, keyPrefix } from './credentials.ts';
import type { KeyRecord } from './identity.ts';

export interface KeyWriter {
  put(hash: string, record: KeyRecord): Promise<void>;
}

/** What a new key is for. */
export type KeyRequest = Pick<KeyRecord, 'member' | 'label' | 'limit' | 'expiresAt'>;

export interface KeyIssuing {
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface IssuedKey {
  /** The key itself. It is never seen again. */
  readonly key: string;
  readonly record: KeyRecord;
}

/** Makes a new random key and stores its hash. */
export async function issueKey(store: KeyWriter, request: KeyRequest, issuing: KeyIssuing): Promise<IssuedKey> {
  const { member, label, limit, expiresAt } = request;
  const key = keyPrefix + randomText(issuing, 32);
  const id = `key_${randomText(issuing, 9)}`;
  const record = { id, member, label, limit, expiresAt, createdAt: issuing.now() };
  await store.put(hashKey(key), record);
  return { key, record };
}

function randomText({ randomBytes }: KeyIssuing, size: number): string {
  return Buffer.from(randomBytes(size)).toString('base64url');
}
