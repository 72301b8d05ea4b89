import { resolve } from 'node:path';
import { serverSettings, tableSettings } from './definitions.ts';
import { ConfigError, collectFaults, type Environment, readNamed } from './read-settings.ts';

/** The names of the tables. */
export const readTables = (environment: Environment) =>
  collectFaults((faults) => readNamed(tableSettings, environment, faults));

/** Where a server stores keys and counters: in a folder, or in two tables. Undefined if neither is set. */
export function readStorePlace(environment: Environment) {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const tables = Object.keys(tableSettings).filter(isSet);
  const { DATA_DIR } = serverSettings;
  const { dataDir } = collectFaults((faults) => readNamed({ DATA_DIR }, environment, faults));
  if (dataDir !== undefined && tables.length > 0) {
    throw new ConfigError([`DATA_DIR and ${tables.join(' and ')} name two stores: set one of them`]);
  }
  if (dataDir !== undefined) return { dataDir: resolve(dataDir), tables: undefined };
  return tables.length > 0 ? { dataDir: undefined, tables: readTables(environment) } : undefined;
}

/** The same, where one of them must be set. */
export function requireStorePlace(environment: Environment): StorePlace {
  const place = readStorePlace(environment);
  if (place) return place;
  throw new ConfigError([
    'DATA_DIR, or KEYS_TABLE and QUOTA_TABLE, must be set: a folder for keys and counters, or the names of two DynamoDB tables',
  ]);
}

export type StorePlace = NonNullable<ReturnType<typeof readStorePlace>>;
