import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Config } from './config.ts';
import { parseJson } from './json.ts';
import { splitList } from './kinds.ts';
import type { Access, Upstream } from './read-upstreams.ts';
import { createMinuteCache, type RefreshDependencies, shareReading, withinTimeLimit } from './refresh.ts';
import { headerMap } from './upstream-definitions.ts';

/** Reads a secret by name or ARN. The previous version is empty if there is none. */
export type ReadSecret = (id: string, version?: 'previous') => Promise<string>;

/** Returns a token for Amazon Bedrock in a region; a new one if the last was refused. */
export type ReadToken = (region: string, refused?: string) => Promise<string>;

interface Dependencies extends RefreshDependencies {
  readonly readSecret: ReadSecret;
  readonly readToken?: ReadToken;
}

const shortestSalt = 16;

/** The accounts function has no upstreams. */
type Settings = Pick<Config['secrets'], 'networkSalt' | 'networkSaltSecretId' | 'edgeSecretId'> &
  Partial<Pick<Config['secrets'], 'upstreamSecretId' | 'oidcClientSecret' | 'oidcClientSecretId'>>;

export function createSecrets(settings: Settings, { readSecret, readToken, ...refreshing }: Dependencies) {
  const { upstreamSecretId, networkSalt, networkSaltSecretId, edgeSecretId, oidcClientSecretId } = settings;
  const subkeys = new Map<string, KeyObject>();
  /** Cached for as long as the secret or token that it was made from is the same. */
  const accesses = new Map<Upstream, KnownAccess>();
  let known = networkSalt === undefined ? undefined : keyOf(networkSalt);

  const cached = <T>(read: () => Promise<T>): (() => Promise<T>) => {
    const refresh = createMinuteCache(() => withinTimeLimit(read()), refreshing);
    return () => refresh().catch(rejectUnreadable);
  };

  const readUpstreamSecret = cached(async () => parseKeys(await readSecret(upstreamSecretId ?? '')));
  const readEdgeSecrets = cached(async () => {
    const id = edgeSecretId ?? '';
    const versions = await Promise.all([readSecret(id), readSecret(id, 'previous')]);
    return versions.map((text) => text.trim()).filter((text) => text !== '');
  });

  const readClientSecret = cached(async () => (await readSecret(oidcClientSecretId ?? '')).trim() || undefined);

  const readSalt = shareReading(async (): Promise<KeyObject> => {
    const text = await withinTimeLimit(readSecret(networkSaltSecretId ?? '')).catch(rejectUnreadable);
    // With a guessable salt, hashes of addresses can be reversed.
    if (text.length < shortestSalt) throw unreadable(new Error('the salt is too short'));
    known = keyOf(text);
    return known;
  }, refreshing.now);

  const networkKey = async () => known ?? readSalt();

  return {
    /** The credentials for an upstream. If it takes tokens, `refused` is one that it rejected, and a new one is made. */
    async upstreamAccess(upstream: Upstream, refused?: string): Promise<Access> {
      const { prefix, apiKeys, headers, tokenRegion } = upstream;
      const token =
        tokenRegion === undefined ? undefined : await readToken?.(tokenRegion, refused).catch(rejectUnreadable);
      const hasOwnKeys = apiKeys.length > 0 || upstreamSecretId === undefined;
      const secret = hasOwnKeys ? undefined : await readUpstreamSecret();
      const latest = accesses.get(upstream);
      if (latest && latest.secret === secret && latest.token === token) return latest.access;
      const read = secret ? accessOf(secret, prefix) : { keys: apiKeys, secretHeaders: {} };
      const access = { headers, ...read, ...(token !== undefined && { keys: [token] }) };
      accesses.set(upstream, { secret, token, access });
      return access;
    },
    /** The salt: the key that network addresses are hashed with. */
    networkKey,
    /** Derives a key from the salt for one purpose, so that hashes for different purposes can't be correlated. */
    async subkey(label: string): Promise<KeyObject> {
      const subkey = subkeys.get(label) ?? subkeyOf(await networkKey(), label);
      subkeys.set(label, subkey);
      return subkey;
    },
    /** The accepted secrets of the CDN: the current one and, to allow rotation, the previous one. */
    edgeSecrets: readEdgeSecrets,
    /** The OIDC client secret; undefined for a public client. */
    oidcClientSecret: async (): Promise<string | undefined> =>
      settings.oidcClientSecret ?? (oidcClientSecretId === undefined ? undefined : readClientSecret()),
  };
}

type Keys = Readonly<Record<string, unknown>>;

interface KnownAccess {
  readonly secret: Keys | undefined;
  readonly token: string | undefined;
  readonly access: Access;
}

/** An upstream's credentials from the secret, by its settings prefix. */
function accessOf(secret: Keys, prefix: string): Pick<Access, 'keys' | 'secretHeaders'> {
  const keys = secret[`${prefix}_API_KEYS`];
  return {
    keys: typeof keys === 'string' ? splitList(keys).filter((key) => sendable.test(key)) : [],
    secretHeaders: readHeaders(secret[`${prefix}_HEADERS`]),
  };
}

const sendable = /^[\x21-\x7e]+$/;

/** Headers as an object, or as JSON text. Throws on faults, because without its headers a request might reach another account. */
function readHeaders(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const headers = headerMap.parse(typeof value === 'string' ? value : JSON.stringify(value));
  if (headers) return headers;
  throw unreadable(new Error('the headers in the secret are not a JSON object of names and values'));
}

function rejectUnreadable(cause: unknown): never {
  throw unreadable(cause);
}

function unreadable(cause: unknown): GatewayError {
  const message = 'The gateway cannot read its own settings right now. Please try again in a moment.';
  return new GatewayError('service_unavailable', message, { refund: true, cause });
}

/** A JSON object by setting name. Anything else is taken as the first upstream's API keys. */
function parseKeys(text: string): Keys {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? { ...value } : { UPSTREAM_API_KEYS: text };
}

/** With a KeyObject, Node's HMAC is five times as fast as with a string or bytes. */
export const keyOf = (text: string): KeyObject => createSecretKey(Buffer.from(text));

/** Derives a key for one purpose. */
export const subkeyOf = (key: KeyObject, label: string): KeyObject =>
  createSecretKey(createHmac('sha256', key).update(label).digest());
