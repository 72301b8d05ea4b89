import { resolve } from 'node:path';
import { ConfigError, camelNamed, type Environment, readBoth, readSettings } from '../lambda/settings/read-settings.ts';
import { readServerConfig, type ServerConfig } from '../lambda/settings/server-config.ts';
import { byDefault, choice } from '../lambda/settings/setting.ts';
import { serverSettings } from '../lambda/settings/settings.ts';

/** The settings that only the local gateway has. */
export interface LocalSettings {
  readonly host: string;
  readonly port: number;
  /** How it serves with ENGINE=web. */
  readonly server: ServerConfig;
  /** The engine: a stand-in for the Function URL, or the HTTP server. */
  readonly engine: 'function-url' | 'web';
  /** Where the embedded tables are kept; undefined keeps them in memory. */
  readonly dataDir: string | undefined;
  /** A store to use instead of the embedded one. */
  readonly dynamodbEndpoint: string | undefined;
  /** How the log is shown: as lines for people, or as a deployment writes it. By default a terminal gets text. */
  readonly logFormat: 'text' | 'json' | undefined;
}

const localSettings = {
  ENGINE: byDefault('function-url', choice(['function-url', 'web'])),
  LOG_FORMAT: choice(['text', 'json']),
};

export const defaultPort = Number(serverSettings.PORT.fallback);

/** Reads the local settings and reports all their faults together. */
export function readLocalSettings(environment: Environment): LocalSettings {
  const [server, own] = readBoth(
    () => readServerConfig(environment),
    () => readOwn(environment),
  );
  const { host, port } = server;
  return { host, port, server, ...own };
}

function readOwn(environment: Environment): Omit<LocalSettings, 'host' | 'port' | 'server'> {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const faults: string[] = [];
  const dataDir = read('DATA_DIR');
  const settings = {
    ...camelNamed(readSettings(localSettings, environment, faults)),
    dataDir: dataDir && resolve(dataDir),
    dynamodbEndpoint: read('AWS_ENDPOINT_URL_DYNAMODB'),
  };
  if (
    settings.dynamodbEndpoint !== undefined &&
    !/^https?:$/.test(URL.parse(settings.dynamodbEndpoint)?.protocol ?? '')
  ) {
    faults.push('AWS_ENDPOINT_URL_DYNAMODB must be an http(s) URL, such as http://127.0.0.1:8000');
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return settings;
}
