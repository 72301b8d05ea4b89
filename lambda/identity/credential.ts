import { hashKey, keyPrefix } from './issued-keys.ts';

/** The credential that a request carries. The key itself is not kept, only its hash. */
export type Credential =
  | {
      readonly kind: 'none';
      /** Whether an Authorization header was there, with something else than a bearer. */
      readonly notBearer?: true;
    }
  | { readonly kind: 'placeholder' }
  /** A key with something before it, such as a quotation mark: whoever sends it takes itself for a member, not for a guest. */
  | { readonly kind: 'wrapped key' }
  | { readonly kind: 'key'; readonly hash: string };

export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** A key as it is issued. */
const wholeKey = new RegExp(`${keyPrefix}[\\w-]{43}`);

/** The headers that a key may come in, in order of precedence. */
export const keyHeaders = ['x-api-key', 'api-key', 'authorization'] as const;

/** The same in a sentence. */
export const keyPlaces = 'x-api-key, api-key or Authorization: Bearer';

/** Reads the credential from headers with lower-case names. */
export function readCredential(headers: RequestHeaders): Credential {
  const name = keyHeaders.find((header) => headers[header]?.trim());
  const text = name && headers[name]?.trim();
  const value = name === 'authorization' ? readBearer(text) : text;
  if (name && value === undefined) return { kind: 'none', notBearer: true };
  if (!value) return { kind: 'none' };
  if (value.startsWith(keyPrefix)) return { kind: 'key', hash: hashKey(value) };
  return { kind: wholeKey.test(value) ? 'wrapped key' : 'placeholder' };
}

/** Undefined for another scheme, or for none. */
function readBearer(authorization = ''): string | undefined {
  const match = /^bearer(?:\s+(.*))?$/is.exec(authorization);
  return match ? (match[1] ?? '').trim() : undefined;
}
