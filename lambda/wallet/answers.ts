// The answers of the wallet's endpoints as plain data: the actions build them, and the page reads them.

/** Before anyone has signed. */
export interface Info {
  readonly serviceName: string;
  readonly gatewayUrl: string;
  /** In tokens, where the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  readonly network: string;
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
}

/** A wallet's account, and what only some answers add to it. */
export interface Account {
  readonly wallet: string;
  readonly keys: readonly ShownKey[];
  readonly keysAllowed: number;
  readonly quota: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };
  /** `expiresAt` is null if the network is not linked to this wallet. */
  readonly link: { readonly network: string; readonly expiresAt: string | null };
  readonly session?: { readonly token: string; readonly expiresAt: string };
  /** A key just issued, shown only now; null if the wallet may have no more. */
  readonly key?: (ShownKey & { readonly key: string }) | null;
}
