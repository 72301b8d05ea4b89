import { resolve } from 'node:path';
import { ConfigError, type Environment } from '../lambda/settings/read-settings.ts';

/** What only the local server is told. */
export interface LocalSettings {
  readonly host: string;
  readonly port: number;
  /** Where the embedded tables last; undefined keeps them in memory. */
  readonly dataDir: string | undefined;
  /** A store to use instead of the embedded one. */
  readonly dynamodbEndpoint: string | undefined;
}

export const defaultPort = 8787;

/** Reads the local settings and reports all their faults together. */
export function readLocalSettings(environment: Environment): LocalSettings {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const dataDir = read('DATA_DIR');
  const settings = {
    host: read('HOST') ?? '127.0.0.1',
    port: Number(read('PORT') ?? defaultPort),
    dataDir: dataDir && resolve(dataDir),
    dynamodbEndpoint: read('AWS_ENDPOINT_URL_DYNAMODB'),
  };
  const faults: string[] = [];
  if (!/^\d{1,5}$/.test(read('PORT') ?? '0') || settings.port > 65535) {
    faults.push('PORT must be a whole number from 0 to 65535, 0 for any free port');
  }
  if (!/^[\w.:-]+$/.test(settings.host)) faults.push('HOST must be an address of this machine, such as 127.0.0.1');
  if (
    settings.dynamodbEndpoint !== undefined &&
    !/^https?:$/.test(URL.parse(settings.dynamodbEndpoint)?.protocol ?? '')
  ) {
    faults.push('AWS_ENDPOINT_URL_DYNAMODB must be an http(s) URL, such as http://127.0.0.1:8000');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return settings;
}
