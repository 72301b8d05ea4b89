// The JSON that the pages read. Plain types only, because page scripts are type-checked without Node's types.

import type { WayToSignIn } from '../settings/config.ts';

/** Public, before signing in. */
export interface Info {
  readonly serviceName: string;
  readonly gatewayUrl: string;
  /** In tokens, if the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  readonly network: string;
  /** The ways to sign in, in order of preference. */
  readonly signIn: readonly WayToSignIn[];
}

export interface ShownKey {
  readonly id: string;
  readonly createdAt: string;
  /** Chosen by its owner. */
  readonly label?: string | undefined;
  /** Absent for a key that does not expire. */
  readonly expiresAt?: string;
  /** Whether its owner can extend `expiresAt`. */
  readonly renewable?: true;
}

/** A member's account. Some endpoints add optional members. */
export interface Account {
  /** The wallet's address, if the member is one. */
  readonly wallet: string | null;
  readonly keys: readonly ShownKey[];
  readonly keysAllowed: number;
  readonly quota: {
    readonly limit: number;
    readonly remaining: number;
    readonly resetSeconds: number;
    /** Amounts as decimals; absent for a member without a budget. */
    readonly budget?:
      | {
          readonly currency: string;
          readonly window: 'day' | 'week' | 'month';
          readonly limit: string;
          readonly remaining: string;
          readonly resetSeconds: number;
          /** Usage by model. */
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
  /** The OIDC provider's name for who has just signed in. It is not stored. */
  readonly person?: { readonly name?: string | undefined; readonly email?: string | undefined };
  readonly session?: { readonly token: string; readonly expiresAt: string } | undefined;
  /** A key that was just issued, shown only once; null if the member can't have more. */
  readonly key?: (ShownKey & { readonly key: string }) | null;
}
