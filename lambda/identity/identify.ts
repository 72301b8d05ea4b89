import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type Credential, keyHeaderList } from './credential.ts';
import { type KeyRecord, type OwnLimits, ownLimitsOf, stateOf } from './issued-keys.ts';
import { cacheFound } from './lookup-cache.ts';
import { createHashMember, type HashMember, memberLabel } from './member.ts';

/** Who a request is charged to. A member may be a wallet address, so only its hash may be logged. */
export type Identity =
  | { readonly kind: 'guest'; readonly networkId: string }
  | {
      readonly kind: 'member';
      readonly member: string;
      /** Absent for a linked network. */
      readonly keyId?: string | undefined;
      /** Present if the key has its own counters. */
      readonly own?: OwnLimits | undefined;
      /** The public models that the key is restricted to, if it is. */
      readonly models?: readonly string[] | undefined;
      /** For `GET /v1/usage`. */
      readonly key?: Pick<KeyRecord, 'label' | 'expiresAt'> | undefined;
    };

/** A unique name for the caller: a member and a network never share one. */
export function callerName(identity: Identity): string {
  return identity.kind === 'member' ? `member ${identity.member}` : `network ${identity.networkId}`;
}

/** Makes a network count as a member until the link expires. */
export interface NetworkLink {
  readonly member: string;
  readonly linkedAt: number;
  readonly expiresAt: number;
}

/** The part of the store that identification reads. */
interface IdentityStore {
  findKey(hash: string): Promise<KeyRecord | undefined>;
  findLink(networkId: string): Promise<NetworkLink | undefined>;
  /** Whether any key was ever issued. */
  anyKeyIssued(): Promise<boolean>;
}

export interface IdentifyDependencies {
  readonly store: IdentityStore;
  /** With `keys`, a linked network is not enough: every caller needs a key. */
  readonly access: 'open' | 'keys';
  readonly guestLimit: number;
  /** How long a key or link is cached, in milliseconds. */
  readonly cacheTime: number;
  readonly corsOrigins: readonly string[];
  /** The web app where people get keys by themselves, if there is one. */
  readonly appUrl?: string | undefined;
  readonly now: () => number;
}

/** `origin` is the request's Origin header, where it has one. */
export type Identify = (credential: Credential, networkId: string, origin?: string) => Promise<Identity>;

/** Identifies callers. */
export interface Callers {
  readonly identify: Identify;
  /** For the log. */
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

/** Finds out who a request is charged to, or throws the 401 or 503 for a caller that can't be identified. */
export function createIdentify(dependencies: IdentifyDependencies): Identify {
  const { store, access, guestLimit, cacheTime, corsOrigins, appUrl, now } = dependencies;
  const isLive = (record: KeyRecord) => stateOf(record, now()) === 'live';
  const isLinked = (link: NetworkLink) => link.expiresAt > now();
  const findKey = cacheFound(store.findKey, isLive, cacheTime, now);
  const findLink = cacheFound(store.findLink, isLinked, cacheTime, now);
  const namedOrigins = new Set(corsOrigins.filter((listed) => listed !== '*'));
  let isAnyKeyIssued = false;

  const identifyKey = async (hash: string): Promise<Identity> => {
    const record = await findKey(hash);
    // Once true, it stays true, so it is read only until then.
    if (!record) isAnyKeyIssued ||= await store.anyKeyIssued();
    if (!record || !isLive(record)) throw refuseKey(record !== undefined || isAnyKeyIssued, appUrl);
    const { id, member, models, label, expiresAt } = record;
    return { kind: 'member', member, keyId: id, own: ownLimitsOf(record), models, key: { label, expiresAt } };
  };

  const identifyNetwork = async (networkId: string, origin?: string): Promise<Identity> => {
    // A linked network is no secret: a web page that is not listed in CORS_ORIGINS must not spend its visitor's quota.
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

/** `appUrl`: the web app where people get keys by themselves, if there is one. */
const getKey = (appUrl: string | undefined): string =>
  appUrl === undefined
    ? 'Ask the operator for a key, who makes one by `npm run keys -- issue`.'
    : `Get a key at ${appUrl}/cli.`;

function refuseKey(isAnyKeyIssued: boolean, appUrl: string | undefined): GatewayError {
  return isAnyKeyIssued
    ? new GatewayError('invalid_api_key', `The API key is unknown, expired or revoked. ${getKey(appUrl)}`)
    : new GatewayError('unconfigured', `This deployment has not issued any keys yet. ${getKey(appUrl)}`);
}

function refuseGuest(appUrl: string | undefined): GatewayError {
  const message = 'Guest access is switched off: a real API key is needed.';
  return new GatewayError('invalid_api_key', `${message} ${getKey(appUrl)}`);
}

/** Refuses a request without a usable key. */
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
  return new GatewayError('missing_api_key', `No API key: send one in ${keyHeaderList}. ${advice}`);
}
