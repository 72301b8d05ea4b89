import { resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { readConfig } from '../../lambda/settings/config.ts';
import { createDocuments, type Documents } from '../../lambda/store/admin/documents.ts';
import { openAdminStore } from '../../lambda/store/admin/store.ts';
import type { AdminStore } from '../../lambda/store/store.ts';
import { findAws } from '../../local/find-aws.ts';
import { factsOf, type GatewayFile, readGatewayFile } from '../../local/gateway-file.ts';
import {
  awsVariables,
  changeEnvironment,
  gatewayVariables,
  type LocalSettings,
  reachableUrl,
  readLocalSettings,
} from '../../local/local-settings.ts';
import { runningPorts } from '../../local/running-gateways.ts';
import { CommandError, type TargetOptions } from '../command-line.ts';
import { readStack, type TargetFacts } from './stack.ts';

export interface Target extends TargetFacts, AdminStore, AsyncDisposable {
  readonly documents: Documents;
}

/**
 * Opens the deployed stack where one is named, else the local gateway that PORT and DATA_DIR stand for. The SDK's clients
 * read the process's environment, so this completes that, and works once in a process.
 */
export async function openTarget({ stack, region }: TargetOptions): Promise<Target> {
  if (stack !== undefined) {
    if (region !== undefined) changeEnvironment({ AWS_REGION: region });
    return open(await readStack(stack));
  }
  if (region !== undefined) throw new CommandError('--region belongs to --stack');
  const settings = readLocalSettings(process.env);
  const { port, dataDir } = settings;
  const file = readGatewayFile(port);
  const isMeant = dataDir === undefined || (file?.dataDir !== undefined && resolve(file.dataDir) === resolve(dataDir));
  if (file && isMeant) return open(runningGateway(file));
  if (dataDir !== undefined) return openDirectory(dataDir, settings);
  const others = runningPorts();
  const instead =
    others.length > 0 ? `, but on ${others.join(', ')}: set PORT to ${others.length > 1 ? 'one of them' : 'that'}` : '';
  throw new CommandError(
    `no gateway is running on port ${port}${instead || `: start it with \`PORT=${port} npm start\``}, or pass --stack NAME`,
  );
}

async function open(facts: TargetFacts, close = async () => {}): Promise<Target> {
  const client = new DynamoDBClient();
  const documents = createDocuments((await findAws(client)).access);
  return {
    ...facts,
    documents,
    ...openAdminStore(documents, facts),
    async [Symbol.asyncDispose]() {
      client.destroy();
      await close();
    },
  };
}

function runningGateway({ dynamodbEndpoint, embedded, networkSalt, ...facts }: GatewayFile): TargetFacts {
  changeEnvironment(awsVariables(process.env, dynamodbEndpoint, embedded));
  return { ...facts, ...localFacts, readNetworkSalt: async () => networkSalt };
}

const localFacts = {
  /** A host of its own is not bound to what one counter of a deployment can serve. */
  mostBurst: 10_000,
  async readTokens(): Promise<never> {
    throw new CommandError(
      'a gateway on this machine prints its tokens in its log and keeps none of them: pass --stack NAME for a deployed one',
    );
  },
};

/** A gateway that is not running: its tables are opened for as long as the command takes. */
async function openDirectory(dataDir: string, { host, port }: LocalSettings): Promise<Target> {
  const config = readConfig({ ...process.env, ...gatewayVariables(process.env, noUpstream) });
  const { createGatewayTables, startDynamoDb } = await import('../../local/dynamodb.ts');
  const { endpoint, warnings, close } = await startDynamoDb({ dataDir });
  for (const warning of warnings) console.error(`warning: ${warning}`);
  changeEnvironment(awsVariables(process.env, endpoint, true));
  const client = new DynamoDBClient();
  await createGatewayTables(client, config.tables).finally(() => client.destroy());
  const facts = factsOf(config, reachableUrl(host, port));
  return open({ ...facts, ...localFacts, readNetworkSalt: async () => config.secrets.networkSalt ?? '' }, close);
}

/** The settings require an upstream, though issuing keys needs none. */
const noUpstream = {
  url: 'http://127.0.0.1/v1',
  apiKey: 'none',
  textModel: 'none',
  visionModel: 'none',
  embeddingsModel: 'none',
  names: [],
};
