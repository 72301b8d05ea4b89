import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type Credential, keyPlaces } from './credential.ts';
import { type KeyRecord, type OwnLimits, ownLimitsOf, stateOf } from './issued-keys.ts';
import { createHashMember, type HashMember, memberLabel } from './member.ts';
import { rememberFindings } from './remember.ts';

/** Whom a request counts for. A member may be the address of a wallet: only its hash may be logged. */
export type Identity =
  | { readonly kind: 'guest'; readonly networkId: string }
  | {
      readonly kind: 'member';
      readonly member: string;
      /** The id of the caller's key; absent for a linked network. */
      readonly keyId?: string | undefined;
      /** There if the key has counters of its own. */
      readonly own?: OwnLimits | undefined;
      /** The only public models that the key may use. */
      readonly models?: readonly string[] | undefined;
      /** What else the caller may read of its key. */
      readonly key?: Pick<KeyRecord, 'label' | 'expiresAt'> | undefined;
    };

/** Names the caller. A member and a network never have the same name. */
export function callerName(identity: Identity): string {
  return identity.kind === 'member' ? `member ${identity.member}` : `network ${identity.networkId}`;
}

/** A network that counts as a member until the link expires. */
export interface NetworkLink {
  readonly member: string;
  readonly linkedAt: number;
  readonly expiresAt: number;
}

/** What identifying a caller needs to look up. */
interface IdentityStore {
  findKey(hash: string): Promise<KeyRecord | undefined>;
  findLink(networkId: string): Promise<NetworkLink | undefined>;
  /** Whether any key was ever issued. */
  anyKeyIssued(): Promise<boolean>;
}

export interface IdentifyDependencies {
  readonly store: IdentityStore;
  /** With `keys`, networks count for nothing. */
  readonly access: 'open' | 'keys';
  readonly guestLimit: number;
  /** For how many milliseconds a key or link that was found is used without reading it again. */
  readonly cacheTime: number;
  readonly corsOrigins: readonly string[];
  /** The web app where people get keys by themselves, if there is one. */
  readonly appUrl?: string | undefined;
  readonly now: () => number;
}

/** `origin` is the request's Origin header, where it has one. */
export type Identify = (credential: Credential, networkId: string, origin?: string) => Promise<Identity>;

/** What tells callers apart. */
export interface Callers {
  readonly identify: Identify;
  /** Names a member in the log. */
  readonly hashMember: HashMember;
}

interface CallersDependencies extends IdentifyDependencies {
  /** Derives a key for one purpose. */
  readonly subkey: (label: string) => Promise<KeyObject>;
}

export function createCallers({ subkey, ...dependencies }: CallersDependencies): Callers {
  return {
    identify: createIdentify(dependencies),
    hashMember: createHashMember(() => subkey(memberLabel)),
  };
}

/** Finds the identity that a request counts for, or throws the error for a client without one. */
export function createIdentify(dependencies: IdentifyDependencies): Identify {
  const { store, access, guestLimit, cacheTime, corsOrigins, appUrl, now } = dependencies;
  const isLive = (record: KeyRecord) => stateOf(record, now()) === 'live';
  const isLinked = (link: NetworkLink) => link.expiresAt > now();
  const findKey = rememberFindings(store.findKey, isLive, cacheTime, now);
  const findLink = rememberFindings(store.findLink, isLinked, cacheTime, now);
  const namedOrigins = new Set(corsOrigins.filter((listed) => listed !== '*'));
  let isAnyKeyIssued = false;

  const identifyKey = async (hash: string): Promise<Identity> => {
    const record = await findKey(hash);
    // It never becomes false again.
    if (!record) isAnyKeyIssued ||= await store.anyKeyIssued();
    if (!record || !isLive(record)) throw refuseKey(record !== undefined || isAnyKeyIssued, appUrl);
    const { id, member, models, label, expiresAt } = record;
    return { kind: 'member', member, keyId: id, own: ownLimitsOf(record), models, key: { label, expiresAt } };
  };

  const identifyNetwork = async (networkId: string, origin?: string): Promise<Identity> => {
    // A linked network is not a password: a web page that is not listed by name must not spend its visitor's quota.
    const mayBeLinked = access === 'open' && (origin === undefined || namedOrigins.has(origin));
    const link = mayBeLinked ? await findLink(networkId) : undefined;
    if (link && isLinked(link)) return { kind: 'member', member: link.member };
    if (guestLimit > 0) return { kind: 'guest', networkId };
    throw refuseGuest(appUrl);
  };

  return async (credential, networkId, origin) => {
    if (credential.kind === 'key') return identifyKey(credential.hash);
    if (credential.kind === 'placeholder') return identifyNetwork(networkId, origin);
    throw refuseCredential(credential, guestLimit, appUrl);
  };
}

/** `appUrl` is where people get keys by themselves, if they can. */
const getKey = (appUrl: string | undefined): string =>
  appUrl === undefined ? 'Ask the operator for a key.' : `Get a key at ${appUrl}/cli.`;

function refuseKey(isAnyKeyIssued: boolean, appUrl: string | undefined): GatewayError {
  return isAnyKeyIssued
    ? new GatewayError('invalid_api_key', `The API key is unknown, expired or revoked. ${getKey(appUrl)}`)
    : new GatewayError('unconfigured', `This deployment has not issued any keys yet. ${getKey(appUrl)}`);
}

function refuseGuest(appUrl: string | undefined): GatewayError {
  const message = 'Guest access is switched off: a real API key is needed.';
  return new GatewayError('invalid_api_key', `${message} ${getKey(appUrl)}`);
}

/** Refuses a request that shows no key. */
function refuseCredential(
  credential: Exclude<Credential, { readonly kind: 'key' | 'placeholder' }>,
  guestLimit: number,
  appUrl: string | undefined,
): GatewayError {
  if (credential.kind === 'wrapped key') {
    const example = 'such as a quotation mark or a second Bearer';
    return new GatewayError('invalid_api_key', `Something stands before the API key, ${example}. Send the key alone.`);
  }
  if (credential.notBearer) {
    const form = 'must have the word Bearer before the key, as in Authorization: Bearer KEY';
    return new GatewayError('missing_api_key', `No API key: the Authorization header ${form}.`);
  }
  const advice = guestLimit > 0 ? 'Guests may send any text.' : getKey(appUrl);
  return new GatewayError('missing_api_key', `No API key: send one in ${keyPlaces}. ${advice}`);
}
