// The answers of the pages' endpoints as plain data: the actions build them, and the page reads them.

import type { WayToSignIn } from '../settings/config.ts';

/** Before anyone has signed. */
export interface Info {
  readonly serviceName: string;
  readonly gatewayUrl: string;
  /** In tokens, where the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  readonly network: string;
  /** The ways to sign in that are offered. */
  readonly signIn: readonly WayToSignIn[];
}

export interface Challenge {
  /** The text to sign. */
  readonly message: string;
  readonly expiresAt: string;
}

export interface ShownKey {
  readonly id: string;
  readonly createdAt: string;
  /** What its owner calls it. */
  readonly label?: string | undefined;
  /** Where keys expire unless they are renewed. */
  readonly expiresAt?: string;
}

/** The requests that a member has left. */
export interface MemberQuota {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** What is left to spend, as decimals; absent for a member without a budget. */
  readonly budget?:
    | {
        readonly currency: string;
        readonly window: 'day' | 'week' | 'month';
        readonly limit: string;
        readonly remaining: string;
        readonly resetSeconds: number;
      }
    | undefined;
}

/** A member's account, and what only some answers add to it. */
export interface Account {
  /** The wallet's address, if the member has signed in with one. */
  readonly wallet: string | null;
  readonly keys: readonly ShownKey[];
  readonly keysAllowed: number;
  readonly quota: MemberQuota;
  /** `expiresAt` is null if the network is not linked to this wallet. Only wallets link networks. */
  readonly link: { readonly network: string; readonly expiresAt: string | null } | null;
  /** What the company's sign-in calls whoever has just signed in. It is kept nowhere. */
  readonly person?: { readonly name?: string | undefined; readonly email?: string | undefined };
  readonly session?: { readonly token: string; readonly expiresAt: string } | undefined;
  /** A key just issued, shown only now; null if the member may have no more. */
  readonly key?: (ShownKey & { readonly key: string }) | null;
}

/** What a person sees of a terminal before letting it in. */
export interface ShownTerminal {
  /** Whether it asks from the network that the person's browser is on. */
  readonly sameNetwork: boolean;
  /** Seconds since it asked. */
  readonly age: number;
}
