import { GatewayError } from '../errors.ts';
import {
  type Identity,
  type IdentityStore,
  type KeyRecord,
  type NetworkLink,
  ownLimitsOf,
  stateOf,
} from './identity.ts';
import { type Credential, keyPlaces } from './keys.ts';

export interface IdentifyDependencies {
  readonly store: IdentityStore;
  /** With `keys`, networks count for nothing, and only the operator issues keys. */
  readonly access: 'open' | 'keys';
  readonly guestLimit: number;
  /** For how many milliseconds a key or link that was found is used without reading it again. */
  readonly cacheTime: number;
  readonly corsOrigins: readonly string[];
  /** The web app where people get keys, if there is one. */
  readonly appUrl?: string | undefined;
  readonly now: () => number;
}

/** `origin` is the request's Origin header, where it has one. */
export type Identify = (credential: Credential, networkId: string, origin?: string) => Promise<Identity>;

const cacheCapacity = 10_000;

/** Finds the identity that a request counts for, or throws the error for a client without one. */
export function createIdentify(dependencies: IdentifyDependencies): Identify {
  const { store, access, guestLimit, cacheTime, corsOrigins, appUrl, now } = dependencies;
  const keys = createCache<KeyRecord>(cacheTime, cacheCapacity, now);
  const links = createCache<NetworkLink>(cacheTime, cacheCapacity, now);
  const findKey = shareFindings(store.findKey);
  const findStoredLink = shareFindings(store.findLink);
  const namedOrigins = new Set(corsOrigins.filter((listed) => listed !== '*'));
  let isAnyKeyIssued = false;
  const getKey =
    access === 'keys' || appUrl === undefined ? 'Ask the operator for a key.' : `Get a key at ${appUrl}/cli.`;

  const identifyKey = async (hash: string): Promise<Identity> => {
    const cached = keys.get(hash);
    const record = cached ?? (await findKey(hash));
    // It never becomes false again.
    if (!record) isAnyKeyIssued ||= await store.anyKeyIssued();
    if (!record && !isAnyKeyIssued) {
      throw new GatewayError('unconfigured', `This deployment has not issued any keys yet. ${getKey}`);
    }
    if (!record || stateOf(record, now()) !== 'live') {
      throw new GatewayError('invalid_api_key', `The API key is unknown, expired or revoked. ${getKey}`);
    }
    if (!cached) keys.set(hash, record);
    const { id, member, models, label, expiresAt } = record;
    return { kind: 'member', member, keyId: id, own: ownLimitsOf(record), models, key: { label, expiresAt } };
  };

  const findLink = async (networkId: string): Promise<NetworkLink | undefined> => {
    const cached = links.get(networkId);
    const link = cached ?? (await findStoredLink(networkId));
    if (!link || link.expiresAt <= now()) return undefined;
    if (!cached) links.set(networkId, link);
    return link;
  };

  const identifyNetwork = async (networkId: string, origin?: string): Promise<Identity> => {
    // A linked network is not a password: a web page that is not listed by name must not spend its visitor's quota.
    const mayBeLinked = access === 'open' && (origin === undefined || namedOrigins.has(origin));
    const link = mayBeLinked ? await findLink(networkId) : undefined;
    if (link) return { kind: 'member', member: link.member };
    if (guestLimit > 0) return { kind: 'guest', networkId };
    throw new GatewayError('invalid_api_key', `Guest access is switched off: a real API key is needed. ${getKey}`);
  };

  return async (credential, networkId, origin) => {
    if (credential.kind === 'key') return identifyKey(credential.hash);
    if (credential.kind === 'placeholder') return identifyNetwork(networkId, origin);
    if (credential.notBearer) {
      const form = 'must have the word Bearer before the key, as in Authorization: Bearer KEY';
      throw new GatewayError('missing_api_key', `No API key: the Authorization header ${form}.`);
    }
    const message = `No API key: send one in ${keyPlaces}.`;
    throw new GatewayError(
      'missing_api_key',
      guestLimit > 0 ? `${message} Guests may send any text.` : `${message} ${getKey}`,
    );
  };
}

/**
 * Shares one look-up among all callers that ask for the same name at once. Only a find is shared: what was not found may have
 * been created since, so each of them looks again.
 */
export function shareFindings<T>(
  find: (name: string) => Promise<T | undefined>,
): (name: string) => Promise<T | undefined> {
  const running = new Map<string, Promise<T | undefined>>();
  return async (name) => {
    const shared = running.get(name);
    const found = shared && (await shared);
    if (found !== undefined) return found;
    const own = find(name).finally(() => {
      if (running.get(name) === own) running.delete(name);
    });
    running.set(name, own);
    return own;
  };
}

/** Keeps up to `capacity` values, each for `lifetime` milliseconds; the oldest goes first. */
export function createCache<T>(lifetime: number, capacity: number, now: () => number) {
  const entries = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get: (name: string): T | undefined => {
      const entry = entries.get(name);
      return entry && now() < entry.until ? entry.value : undefined;
    },
    set: (name: string, value: T): void => {
      entries.delete(name);
      entries.set(name, { value, until: now() + lifetime });
      const [oldest] = entries.keys();
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    },
  };
}
