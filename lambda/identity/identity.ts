/** Who a request counts for. Every member of the type is safe to log. */
export type Identity =
  | { readonly kind: 'guest'; readonly networkId: string }
  | {
      readonly kind: 'member';
      readonly member: string;
      /** The key that was shown; absent for a linked network. */
      readonly keyId?: string | undefined;
      /** The key was issued with a limit of its own and counts by itself. */
      readonly ownLimit?: number | undefined;
    };

/** Whose requests these are, in one word; a member's and a network's names never meet. */
export function callerName(identity: Identity): string {
  return identity.kind === 'member' ? `member ${identity.member}` : `network ${identity.networkId}`;
}

/** An issued key as it is stored, under the hash of the key and without the key. Times are epoch milliseconds. */
export interface KeyRecord {
  readonly id: string;
  readonly member: string;
  readonly label?: string | undefined;
  /** Requests a day for this key alone, instead of a share of its member's. */
  readonly limit?: number | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** A network that speaks for a member until the link expires. */
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
