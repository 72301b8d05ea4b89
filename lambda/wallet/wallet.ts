import { randomBytes } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Aws } from '../aws/aws.ts';
import { createDocumentClient } from '../aws/sdk-client.ts';
import { createRequestId, headerNames } from '../http/gateway-headers.ts';
import { createFindNetwork } from '../identity/find-network.ts';
import { createLocateViewer } from '../identity/viewer-address.ts';
import { createToken } from '../quota/token.ts';
import type { Repeat } from '../settings/refreshed.ts';
import { createSecrets } from '../settings/secrets.ts';
import { createCounters } from '../store/counters.ts';
import { createKeyStore } from '../store/keys.ts';
import { createWalletStore } from '../store/wallets.ts';
import { createActions } from './actions.ts';
import { createWalletApp, type WalletApp } from './app.ts';
import type { WalletConfig } from './config.ts';
import { describeDeployment } from './facts.ts';
import { createKeyring } from './keyring.ts';
import { createLimits } from './limits.ts';
import { createWalletLog } from './log.ts';
import type { PageFile } from './page-files.ts';
import { createReadQuota } from './quota-of.ts';
import { createSessions } from './sessions.ts';
import { createSignIn } from './sign-in.ts';

/** What the function needs from outside. */
export interface World extends Aws {
  readonly dynamoDb: DynamoDBClient;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  /** Present if the process stays alive between requests: runs a task at intervals. */
  readonly repeat?: Repeat;
  /** How the function is served, unless APP_URL says it. */
  readonly scheme: 'http' | 'https';
}

/** Assembles the wallet function, once per start. */
export function createWallet(config: WalletConfig, world: World): WalletApp {
  const { dynamoDb, callDynamoDb, readSecret, writeLog, now, repeat } = world;
  const documents = createDocumentClient(dynamoDb);
  const keys = createKeyStore(documents, config.keysTable);
  const wallets = createWalletStore(documents, config.keysTable);
  const counters = createCounters(callDynamoDb, config.quotaTable, now);
  const log = createWalletLog({ ...config, write: writeLog, now });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(
    { ...config, upstreamSecretId: undefined },
    { readSecret, now, onStale: log.secretNotRefreshed, repeat },
  );
  const sessions = createSessions({ store: wallets, now, randomBytes });

  const actions = createActions({
    ...config,
    signIn: createSignIn({ store: wallets, now, randomBytes }),
    sessions,
    keyring: createKeyring({ keys, wallets, now, randomBytes }),
    limits: createLimits({ counters, now, createToken }),
    readQuota: createReadQuota({ ...config, counters, now }),
    linkNetwork: keys.link,
    findLink: keys.findLink,
    log,
    now,
  });
  const isOpen = config.access === 'open';
  return createWalletApp({
    ...config,
    ...world,
    names: headerNames(config.serviceName),
    actions,
    describe: (site) => describeDeployment(config, { guests: isOpen && config.guestLimit > 0, keys: isOpen }, site),
    sessions,
    log,
    findNetwork: createFindNetwork({ ...secrets, locateViewer: createLocateViewer({ ...config, ...secrets }) }),
    createRequestId,
  });
}
