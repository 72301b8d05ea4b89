import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Config } from './config.ts';
import { parseJson } from './json.ts';
import { splitList } from './kinds.ts';
import type { Access, Upstream } from './read-upstreams.ts';
import { createMinuteCache, type RefreshDependencies, shareReading, withinTimeLimit } from './refresh.ts';
import { headerMap } from './upstream-definitions.ts';

/** Reads a secret by its name or ARN: the current value, or the previous one, which is empty if there was none. */
export type ReadSecret = (id: string, version?: 'previous') => Promise<string>;

interface Dependencies extends RefreshDependencies {
  readonly readSecret: ReadSecret;
}

const shortestSalt = 16;

/** The accounts function has no upstreams. */
type Settings = Pick<Config['secrets'], 'networkSalt' | 'networkSaltSecretId' | 'edgeSecretId'> &
  Partial<Pick<Config['secrets'], 'upstreamSecretId' | 'oidcClientSecret' | 'oidcClientSecretId'>>;

export function createSecrets(settings: Settings, { readSecret, ...refreshing }: Dependencies) {
  const { upstreamSecretId, networkSalt, networkSaltSecretId, edgeSecretId, oidcClientSecretId } = settings;
  const subkeys = new Map<string, KeyObject>();
  /** Each upstream's, and what it was read from: worked out anew only when that was read anew. */
  const accesses = new Map<Upstream, { readonly secret: Keys | undefined; readonly access: Access }>();
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
    /** The keys and headers that an upstream is called with. */
    async upstreamAccess(upstream: Upstream): Promise<Access> {
      const { prefix, apiKeys, headers } = upstream;
      const hasOwnKeys = apiKeys.length > 0 || upstreamSecretId === undefined;
      const secret = hasOwnKeys ? undefined : await readUpstreamSecret();
      const latest = accesses.get(upstream);
      if (latest && latest.secret === secret) return latest.access;
      const access = { headers, ...(secret ? accessOf(secret, prefix) : { keys: apiKeys, secretHeaders: {} }) };
      accesses.set(upstream, { secret, access });
      return access;
    },
    /** The salt, as the key of the hash that networks are stored under. */
    networkKey,
    /** Derives a key from the salt for one purpose, so that hashes made for different purposes can't be matched. */
    async subkey(label: string): Promise<KeyObject> {
      const subkey = subkeys.get(label) ?? subkeyOf(await networkKey(), label);
      subkeys.set(label, subkey);
      return subkey;
    },
    /** The secrets that a CDN in front may send: the current one and, so that it can be replaced, the previous one. */
    edgeSecrets: readEdgeSecrets,
    /** What the gateway proves itself with to the company's sign-in; undefined if it needs nothing. */
    oidcClientSecret: async (): Promise<string | undefined> =>
      settings.oidcClientSecret ?? (oidcClientSecretId === undefined ? undefined : readClientSecret()),
  };
}

type Keys = Readonly<Record<string, unknown>>;

/** The part of an upstream, by the prefix of its settings. */
function accessOf(secret: Keys, prefix: string): Pick<Access, 'keys' | 'secretHeaders'> {
  const keys = secret[`${prefix}_API_KEYS`];
  return {
    keys: typeof keys === 'string' ? splitList(keys).filter((key) => sendable.test(key)) : [],
    secretHeaders: readHeaders(secret[`${prefix}_HEADERS`]),
  };
}

/** What can be sent in a header. */
const sendable = /^[\x21-\x7e]+$/;

/** An object, or its text as in an environment variable. Faults throw: without its headers a request might reach another account. */
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

/** A JSON object with the names of the settings; anything else is the first upstream's list of keys. */
function parseKeys(text: string): Keys {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? { ...value } : { UPSTREAM_API_KEYS: text };
}

/** A text as the key of hashes. Node takes five times as long for a hash whose key is still a text or bytes. */
export const keyOf = (text: string): KeyObject => createSecretKey(Buffer.from(text));

/** Derives a key for one purpose. */
export const subkeyOf = (key: KeyObject, label: string): KeyObject =>
  createSecretKey(createHmac('sha256', key).update(label).digest());
