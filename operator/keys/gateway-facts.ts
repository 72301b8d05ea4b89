import type { ReadTokens } from './token-log.ts';

/** The facts that a command needs about its gateway. */
export interface GatewayFacts {
  readonly url: string;
  readonly serviceName: string;
  /** In tokens, where the operator has set it. */
  readonly contextWindow?: number | undefined;
  readonly memberLimit: number;
  /** With `keys`, links of networks count for nothing. */
  readonly access: 'open' | 'keys';
  readonly keysTable: string;
  readonly quotaTable: string;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}
