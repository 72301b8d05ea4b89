import type { ReadTokens } from './token-log.ts';

/** What a command has to know about the gateway that it works on. */
export interface GatewayFacts {
  readonly url: string;
  readonly serviceName: string;
  readonly memberLimit: number;
  readonly keysTable: string;
  readonly quotaTable: string;
  readonly readNetworkSalt: () => Promise<string>;
  readonly readTokens: ReadTokens;
}
