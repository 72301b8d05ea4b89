import { cacheCredentials, findAwsAccess } from './aws/access.ts';
import { createAws } from './aws/call-service.ts';
import type { Config } from './settings/config.ts';
import { ConfigError, type Environment } from './settings/read-settings.ts';
import type { RunEvery } from './settings/refresh.ts';
import type { ReadSecret, ReadToken } from './settings/secrets.ts';
import type { StorePlace } from './settings/store-place.ts';
import { createDynamoStore } from './store/dynamodb/store.ts';
import { FolderError } from './store/sqlite/folder.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import type { AdminStore, Store } from './store/store.ts';

export interface OpenedStore {
  readonly store: Store;
  readonly openAdminStore: () => Promise<AdminStore>;
  readonly readSecret: ReadSecret;
  readonly readToken: ReadToken;
  readonly warnings: readonly string[];
  readonly close: () => Promise<void>;
}

interface World {
  readonly environment: Environment;
  readonly now: () => number;
  readonly random: () => number;
  readonly runEvery: RunEvery;
}

/** Opens the store, and finds AWS credentials if they are needed, for tables, secrets or Bedrock. */
export async function openStore({ dataDir, tables }: StorePlace, config: Config, world: World): Promise<OpenedStore> {
  if (dataDir !== undefined) {
    const { readSecret, readToken } = needsAws(config) ? await openAws(world) : nothingOfAws;
    return { readSecret, readToken, ...(await openFolder(dataDir, world)) };
  }
  const { access, callDynamoDb, ...aws } = await openAws(world);
  return {
    ...aws,
    store: createDynamoStore(callDynamoDb, tables, world.now),
    // Lazy: this loads the AWS SDK, which only the pages need.
    openAdminStore: async () => (await import('./store/admin/store.ts')).createAdminStore(access, tables),
    warnings: [],
    close: async () => {},
  };
}

async function openFolder(dataDir: string, { now }: World): Promise<Omit<OpenedStore, 'readSecret' | 'readToken'>> {
  try {
    const { store, adminStore, wasOpen, close } = await openSqliteStore(dataDir, { now, serves: true });
    const warning = `DATA_DIR ${dataDir} was open to other users of this machine, and no longer is`;
    return { store, openAdminStore: async () => adminStore, warnings: wasOpen ? [warning] : [], close };
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    throw new ConfigError([`DATA_DIR ${dataDir} can't be used: ${error.message}`]);
  }
}

const needsAws = ({ secrets, upstreams }: Config): boolean =>
  Object.entries(secrets).some(([name, id]) => name.endsWith('SecretId') && id !== undefined) ||
  upstreams.all.some(({ tokenRegion }) => tokenRegion !== undefined);

const unused = () => Promise.reject(new Error('AWS is not used'));
const nothingOfAws = { readSecret: unused, readToken: unused };

/** Lazy: a server with a folder, no secrets and no Bedrock doesn't need the SDK, which takes 20 MB. */
async function openAws({ environment, now, random, runEvery }: World) {
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
  const found = await findAwsAccess(new DynamoDBClient(), environment).catch(() => {
    throw new ConfigError(['AWS_REGION is missing: the region of the tables, secrets or models']);
  });
  const access = { ...found, credentials: cacheCredentials(found.credentials, { now, runEvery }) };
  return { access, ...createAws(access, { now, random }) };
}
