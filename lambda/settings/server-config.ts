import { ConfigError, camelNamed, type Environment, readSettings } from './read-settings.ts';
import { serverSettings } from './settings.ts';

/** What the HTTP server is told from outside. Times are milliseconds, sizes bytes. */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly clientAddress: 'socket' | 'x-forwarded-for';
  readonly bodyBudget: number;
  readonly shutdownGrace: number;
  /** Whether the wallet's page is served here: in Lambda it has a function of its own, as only that may write keys. */
  readonly servesWallet: boolean;
  /** What callers reach the server over: the platform has https in front of it. */
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
