import { ConfigError, camelNamed, type Environment, readSettings } from './read-settings.ts';
import { serverSettings } from './settings.ts';

/** The HTTP server's own settings. Times are milliseconds, sizes bytes. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly clientAddress: 'socket' | 'x-forwarded-for';
  readonly bodyBudget: number;
  readonly shutdownGrace: number;
  /** Whether the wallet's page is served here. In Lambda it has a function of its own, which alone may write keys. */
  readonly servesWallet: boolean;
  /** The scheme that callers use: Lambda terminates https in front of the server. */
  readonly scheme: 'http' | 'https';
}

/** Reads every setting at once and reports all faults together. */
export function readServerConfig(environment: Environment): ServerConfig {
  const faults: string[] = [];
  const { awsLambdaHttpEndpoint, clientAddress, ...settings } = camelNamed(
    readSettings(serverSettings, environment, faults),
  );
  if (faults.length > 0) throw new ConfigError(faults);
  // Lambda says where to listen, and names the caller behind it in a header.
  const [, host = settings.host, port = settings.port] = /^(.+):(\d+)$/.exec(awsLambdaHttpEndpoint ?? '') ?? [];
  const inLambda = awsLambdaHttpEndpoint !== undefined;
  return {
    ...settings,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    clientAddress: clientAddress ?? (inLambda ? 'x-forwarded-for' : 'socket'),
    servesWallet: !inLambda,
    scheme: inLambda ? 'https' : 'http',
  };
}
