import type { Call } from '../http/call.ts';
import type { Network } from '../identity/find-network.ts';
import type { Site } from './site.ts';

/** One request on its way. Each step adds what it finds. */
export interface WalletRequest {
  readonly id: string;
  /** Method and path as the routes name them, for the log. */
  readonly route: string;
  /** By lower-case name. */
  readonly headers: Call['headers'];
  readonly bodySize: Call['bodySize'];
  readonly takeBody: Call['takeBody'];
  readonly site: Site;
  readonly network: Network;
  /** Added by read-input. */
  input?: Readonly<Record<string, unknown>>;
  /** Added by require-session: the member who is signed in. */
  member?: string;
}

/** An endpoint's work. Its result becomes the JSON of the answer. */
export type Action = (request: WalletRequest) => Promise<object>;
