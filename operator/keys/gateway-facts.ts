import type { ReadTokens } from './token-log.ts';

/** The facts that a command needs about its gateway. */
export interface GatewayFacts {
  readonly url: string;
  readonly serviceName: string;
  readonly memberLimit: number;
  readonly keysTable: string;
  readonly quotaTable: string;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}
