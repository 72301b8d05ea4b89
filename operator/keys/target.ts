import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Config, readConfig } from '../../lambda/settings/config.ts';
import { readStorePlace, type StorePlace } from '../../lambda/settings/store-place.ts';
import { createDocuments, type Documents } from '../../lambda/store/admin/documents.ts';
import { openAdminStore } from '../../lambda/store/admin/store.ts';
import type { TableNames } from '../../lambda/store/dynamodb/store.ts';
import { FolderError } from '../../lambda/store/sqlite/folder.ts';
import { openSqliteStore } from '../../lambda/store/sqlite/store.ts';
import type { AdminStore } from '../../lambda/store/store.ts';
import { findAws } from '../../local/find-aws.ts';
import { factsOf, type GatewayFacts, type GatewayFile, readGatewayFile } from '../../local/gateway-file.ts';
import {
  awsVariables,
  changeEnvironment,
  gatewayVariables,
  reachableUrl,
  readLocalSettings,
} from '../../local/local-settings.ts';
import { runningPorts } from '../../local/running-gateways.ts';
import { CommandError, type TargetOptions } from '../command-line.ts';
import { readStack, type TargetFacts } from './stack.ts';

export interface Target extends TargetFacts, AdminStore, AsyncDisposable {
  /** Its store: a folder, or tables. */
  readonly dataDir?: string;
  readonly tables?: TableNames & { readonly documents: Documents };
}

/**
 * Opens the deployed stack if one is named, else the gateway that PORT, DATA_DIR or the table names select, which need not be
 * running. Sets environment variables for the SDK's clients, so it works only once per process.
 */
export async function openTarget({ stack, region, creates = false }: TargetOptions): Promise<Target> {
  if (stack !== undefined) {
    if (region !== undefined) changeEnvironment({ AWS_REGION: region });
    const { tables, ...facts } = await readStack(stack);
    return openTables(facts, tables);
  }
  if (region !== undefined) throw new CommandError('--region belongs to --stack');
  const { port, host } = readLocalSettings(process.env);
  const file = readGatewayFile(port);
  changeEnvironment(gatewayVariables(process.env, noUpstream));
  const place = readStorePlace(process.env);
  if (file && (place === undefined || (place.dataDir !== undefined && place.dataDir === file.dataDir)))
    return openRunning(file);
  if (place === undefined) {
    throw new CommandError(`no gateway is running on port ${port}${instead(port)}, or pass --stack NAME`);
  }
  const config = readConfig(process.env);
  return openPlace(factsOf(config, reachableUrl(host, port)), place, saltOf(config), creates);
}

/** Suggests what to do if no gateway runs on this port. */
function instead(port: number): string {
  const others = runningPorts();
  if (others.length === 0) return `: start it with \`PORT=${port} npm start\`, set DATA_DIR`;
  return `, but on ${others.join(', ')}: set PORT to ${others.length > 1 ? 'one of them' : 'that'}`;
}

async function openRunning({ networkSalt, dataDir, tables, dynamodbEndpoint, ...facts }: GatewayFile): Promise<Target> {
  changeEnvironment({ ...(dynamodbEndpoint && { AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint }) });
  const place = tables ? { dataDir: undefined, tables } : { dataDir: dataDir ?? '', tables: undefined };
  return openPlace(facts, place, async () => networkSalt, false);
}

async function openPlace(
  known: GatewayFacts,
  { dataDir, tables }: StorePlace,
  readNetworkSalt: TargetFacts['readNetworkSalt'],
  creates: boolean,
) {
  const facts = { ...known, ...localFacts, readNetworkSalt };
  if (dataDir !== undefined) return openFolder(facts, dataDir, creates);
  changeEnvironment(awsVariables(process.env, true));
  return openTables(facts, tables);
}

async function openFolder(facts: TargetFacts, dataDir: string, creates: boolean): Promise<Target> {
  const { adminStore, close } = await openSqliteStore(dataDir, { now: Date.now, serves: false, creates }).catch(
    (error) => {
      if (!(error instanceof FolderError)) throw error;
      throw new CommandError(`DATA_DIR ${dataDir} can't be used: ${error.message}`);
    },
  );
  return { ...facts, ...adminStore, dataDir, [Symbol.asyncDispose]: close };
}

async function openTables(facts: TargetFacts, tables: TableNames): Promise<Target> {
  const client = new DynamoDBClient();
  const documents = createDocuments((await findAws(client)).access);
  return {
    ...facts,
    ...openAdminStore(documents, tables),
    tables: { ...tables, documents },
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
}

/** The salt from the settings, or from the secret that they name. */
const saltOf =
  ({ secrets: { networkSalt, networkSaltSecretId } }: Config) =>
  async () => {
    if (networkSaltSecretId === undefined) return networkSalt ?? '';
    const client = new DynamoDBClient();
    return (await findAws(client)).readSecret(networkSaltSecretId).finally(() => client.destroy());
  };

const localFacts = {
  /** Unlike a deployment, a self-hosted gateway isn't limited by what one counter can serve. */
  mostBurst: 10_000,
  async readTokens(): Promise<never> {
    throw new CommandError(
      'a gateway on this machine prints its tokens in its log and keeps none of them: pass --stack NAME for a deployed one',
    );
  },
};

/** The settings require an upstream, though issuing keys needs none. */
const noUpstream = {
  url: 'http://127.0.0.1/v1',
  apiKey: 'none',
  textModel: 'none',
  visionModel: 'none',
  embeddingsModel: 'none',
  names: [],
};
