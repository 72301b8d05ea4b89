import { createHmac, type KeyObject } from 'node:crypto';
import type { Budget, BudgetWindow } from '../budget/budget-window.ts';

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

/** What a key with counters of its own was given. What it was not given is as its member has it. */
export interface OwnLimits {
  readonly limit?: number | undefined;
  readonly burst?: number | undefined;
  readonly budget?: Budget | undefined;
}

/** The limits of a key's own; undefined for one that shares its member's counters. */
export function ownLimitsOf({ limit, burst, budget, budgetWindow }: KeyRecord): OwnLimits | undefined {
  if (!hasOwnCounters({ limit, budget, burst })) return undefined;
  return {
    limit,
    burst,
    ...(budget !== undefined && budgetWindow && { budget: { amount: budget, window: budgetWindow } }),
  };
}

/** Names the caller. A member and a network never have the same name. */
export function callerName(identity: Identity): string {
  return identity.kind === 'member' ? `member ${identity.member}` : `network ${identity.networkId}`;
}

/** An issued key as stored: under its hash, without the key itself. Times are epoch milliseconds. */
export interface KeyRecord {
  readonly id: string;
  readonly member: string;
  readonly label?: string | undefined;
  /** Requests a day for this key alone, instead of a share of its member's. */
  readonly limit?: number | undefined;
  /** What this key alone may spend, in micros, instead of a share of its member's budget. */
  readonly budget?: number | undefined;
  /** How long that is for; there if `budget` is. */
  readonly budgetWindow?: BudgetWindow | undefined;
  /** The only public models that it may use. */
  readonly models?: readonly string[] | undefined;
  /** Requests a minute for this key alone. */
  readonly burst?: number | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** Whether a key has counters of its own, instead of a share of its member's: one thing of its own gives it all of them. */
export function hasOwnCounters({ limit, budget, burst }: Pick<KeyRecord, 'limit' | 'budget' | 'burst'>): boolean {
  return (limit ?? budget ?? burst) !== undefined;
}

export type KeyState = 'live' | 'revoked' | 'expired';

/** A revoked key stays revoked, whether or not it would have expired. */
export function stateOf({ revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>, now: number): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'live';
}

/** A network that counts as a member until the link expires. */
export interface NetworkLink {
  readonly member: string;
  readonly linkedAt: number;
  readonly expiresAt: number;
}

/** What identifying a caller needs to look up. */
export interface IdentityStore {
  findKey(hash: string): Promise<KeyRecord | undefined>;
  findLink(networkId: string): Promise<NetworkLink | undefined>;
  /** Whether any key was ever issued. */
  anyKeyIssued(): Promise<boolean>;
}

/** A member as the log names it: a keyed hash, because a member may be the address of a wallet. */
export function memberHash(secret: KeyObject, member: string): string {
  return createHmac('sha256', secret).update(member).digest('base64url').slice(0, 22);
}

/** The label of the subkey for it. */
export const memberLabel = 'members';

/** The member that an account at an OpenID provider is, by the subkey with the label below. */
export function accountMember(secret: KeyObject, issuer: string, subject: string): string {
  return `oidc:${createHmac('sha256', secret).update(`${issuer}\n${subject}`).digest('base64url')}`;
}

export const accountLabel = 'members of OpenID Connect';

const remembered = 10_000;

/** The same, cached for members that come again. */
export function createMemberHash(
  readSubkey: (label: string) => Promise<KeyObject>,
): (member: string) => Promise<string> {
  const known = new Map<string, string>();
  return async (member) => {
    const hash = known.get(member) ?? memberHash(await readSubkey(memberLabel), member);
    if (known.size >= remembered) known.clear();
    known.set(member, hash);
    return hash;
  };
}
