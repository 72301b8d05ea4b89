import { randomBytes } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Aws } from '../aws/call-service.ts';
import { createDocumentClient } from '../aws/sdk-client.ts';
import { createFindNetwork, createLocateViewer } from '../identity/network.ts';
import { createToken } from '../quota/counter-store.ts';
import { createRequestId, headerNames } from '../request/headers.ts';
import type { WalletConfig } from '../settings/config.ts';
import type { RunEvery } from '../settings/refresh.ts';
import { createSecrets } from '../settings/secrets.ts';
import { createCounters } from '../tables/counters.ts';
import { createKeyStore } from '../tables/keys.ts';
import { createWalletStore } from '../tables/wallets.ts';
import { createActions } from './actions.ts';
import { createWalletApp, type WalletApp } from './app.ts';
import { createKeyring } from './keyring.ts';
import { createLimits, createReadQuota } from './limits.ts';
import { createWalletLog } from './log.ts';
import { describeDeployment, type PageFile } from './pages.ts';
import { createSessions } from './sessions.ts';
import { createSignIn } from './sign-in.ts';

/** What the function needs from outside. */
export interface WalletDependencies extends Aws {
  readonly dynamoDb: DynamoDBClient;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  /** Present if the process stays alive between requests: runs a task at intervals. */
  readonly runEvery?: RunEvery;
  /** How the function is served, unless APP_URL says it. */
  readonly scheme: 'http' | 'https';
}

/** Assembles the wallet function, once per start. */
export function createWallet(config: WalletConfig, dependencies: WalletDependencies): WalletApp {
  const { dynamoDb, callDynamoDb, readSecret, writeLog, now, runEvery } = dependencies;
  const documents = createDocumentClient(dynamoDb);
  const keys = createKeyStore(documents, config.keysTable);
  const wallets = createWalletStore(documents, config.keysTable);
  const counters = createCounters(callDynamoDb, config.quotaTable, now);
  const log = createWalletLog({ ...config, write: writeLog, now });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(
    { ...config, upstreamSecretId: undefined },
    { readSecret, now, onStale: log.secretNotRefreshed, runEvery },
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
    ...dependencies,
    names: headerNames(config.serviceName),
    actions,
    describe: (site) => describeDeployment(config, { guests: isOpen && config.guestLimit > 0, keys: isOpen }, site),
    sessions,
    log,
    findNetwork: createFindNetwork({ ...secrets, locateViewer: createLocateViewer({ ...config, ...secrets }) }),
    createRequestId,
  });
}
