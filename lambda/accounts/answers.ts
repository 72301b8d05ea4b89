// The answers that the pages read, as plain data: their scripts are checked without Node's types.

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

export interface ShownKey {
  readonly id: string;
  readonly createdAt: string;
  /** What its owner calls it. */
  readonly label?: string | undefined;
  /** When it ends; absent for a key that does not. */
  readonly expiresAt?: string;
  /** Whether its owner may move that end. */
  readonly renewable?: true;
}

/** A member's account, and what only some answers add to it. */
export interface Account {
  /** The wallet's address, if the member has signed in with one. */
  readonly wallet: string | null;
  readonly keys: readonly ShownKey[];
  readonly keysAllowed: number;
  /** What the member has left. */
  readonly quota: {
    readonly limit: number;
    readonly remaining: number;
    readonly resetSeconds: number;
    /** To spend, as decimals; absent for a member without a budget. */
    readonly budget?:
      | {
          readonly currency: string;
          readonly window: 'day' | 'week' | 'month';
          readonly limit: string;
          readonly remaining: string;
          readonly resetSeconds: number;
          /** What was used of it, by model. */
          readonly models: readonly {
            readonly id: string;
            readonly inputTokens: number;
            readonly outputTokens: number;
            readonly spent: string;
          }[];
        }
      | undefined;
  };
  /** `expiresAt` is null if the network is not linked to this wallet. Only wallets link networks. */
  readonly link: { readonly network: string; readonly expiresAt: string | null } | null;
  /** What the company's sign-in calls whoever has just signed in. It is kept nowhere. */
  readonly person?: { readonly name?: string | undefined; readonly email?: string | undefined };
  readonly session?: { readonly token: string; readonly expiresAt: string } | undefined;
  /** A key just issued, shown only now; null if the member may have no more. */
  readonly key?: (ShownKey & { readonly key: string }) | null;
}
