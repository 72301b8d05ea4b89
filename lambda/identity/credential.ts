import { hashKey, keyPrefix } from './issued-keys.ts';

/** The credential in a request's headers. Keys are hashed right away; the key itself is not retained. */
export type Credential =
  | {
      readonly kind: 'none';
      /** There was an Authorization header, but not with a bearer token. */
      readonly notBearer?: true;
    }
  | { readonly kind: 'placeholder' }
  /** A key with something before it, such as a quotation mark. Its sender means to be a member, so it must not pass as a guest. */
  | { readonly kind: 'wrapped key' }
  | { readonly kind: 'key'; readonly hash: string };

export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** A key as it is issued. */
const wholeKey = new RegExp(`${keyPrefix}[\\w-]{43}`);

/** The headers that a key may come in, in order of precedence. */
export const keyHeaders = ['x-api-key', 'api-key', 'authorization'] as const;

/** The same, for a sentence. */
export const keyHeaderList = 'x-api-key, api-key or Authorization: Bearer';

/** Expects lower-case header names. */
export function readCredential(headers: RequestHeaders): Credential {
  const name = keyHeaders.find((header) => headers[header]?.trim());
  const text = name && headers[name]?.trim();
  const value = name === 'authorization' ? readBearer(text) : text;
  if (name && value === undefined) return { kind: 'none', notBearer: true };
  if (!value) return { kind: 'none' };
  if (value.startsWith(keyPrefix)) return { kind: 'key', hash: hashKey(value) };
  return { kind: wholeKey.test(value) ? 'wrapped key' : 'placeholder' };
}

/** Undefined for any other scheme, or none. */
function readBearer(authorization = ''): string | undefined {
  const match = /^bearer(?:\s+(.*))?$/is.exec(authorization);
  return match ? (match[1] ?? '').trim() : undefined;
}
