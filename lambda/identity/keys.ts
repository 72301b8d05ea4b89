import { hash } from 'node:crypto';
import type { KeyRecord } from './identity.ts';

/** The credential that a request carries. The key itself is not kept, only its hash. */
export type Credential =
  | {
      readonly kind: 'none';
      /** Whether an Authorization header was there, with something else than a bearer. */
      readonly notBearer?: true;
    }
  | { readonly kind: 'placeholder' }
  | { readonly kind: 'key'; readonly hash: string };

export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** What every issued key begins with. */
export const keyPrefix = 'ltk_';

/** The headers that a key may come in, in order of precedence. */
export const keyHeaders = ['x-api-key', 'api-key', 'authorization'] as const;

/** The same in a sentence: `x-api-key, api-key or Authorization: Bearer`. */
export const keyPlaces = keyHeaders
  .map((name) => (name === 'authorization' ? 'Authorization: Bearer' : name))
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ');

/** Reads the credential from headers with lower-case names. */
export function readCredential(headers: RequestHeaders): Credential {
  const name = keyHeaders.find((header) => headers[header]?.trim());
  const text = name && headers[name]?.trim();
  const value = name === 'authorization' ? readBearer(text) : text;
  if (name && value === undefined) return { kind: 'none', notBearer: true };
  if (!value) return { kind: 'none' };
  return value.startsWith(keyPrefix) ? { kind: 'key', hash: hashKey(value) } : { kind: 'placeholder' };
}

/** The hash under which a key is stored. Keys have 256 random bits, so a plain SHA-256 can't be reversed by guessing. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Undefined for another scheme, or for none. */
function readBearer(authorization = ''): string | undefined {
  const match = /^bearer(?:\s+(.*))?$/is.exec(authorization);
  return match ? (match[1] ?? '').trim() : undefined;
}

interface KeyWriter {
  put(hash: string, record: KeyRecord): Promise<void>;
}

/** What a new key is for. */
export type KeyRequest = Omit<KeyRecord, 'id' | 'createdAt' | 'revokedAt'>;

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
  const { member, label, limit, budget, budgetWindow, models, burst, expiresAt } = request;
  const key = keyPrefix + randomText(issuing, 32);
  const id = `key_${randomText(issuing, 9)}`;
  const own = { limit, budget, budgetWindow, models, burst, expiresAt };
  const record = { id, member, label, ...own, createdAt: issuing.now() };
  await store.put(hashKey(key), record);
  return { key, record };
}

function randomText({ randomBytes }: KeyIssuing, size: number): string {
  return Buffer.from(randomBytes(size)).toString('base64url');
}
