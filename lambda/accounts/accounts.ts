import type { AwsAccess } from '../aws/access.ts';
import type { Aws } from '../aws/call-service.ts';
import { createFindNetwork } from '../identity/network.ts';
import type { App } from '../request/call.ts';
import { type AccountsConfig, hasClientsPage, waysToSignIn } from '../settings/config.ts';
import type { RunEvery } from '../settings/refresh.ts';
import { createSecrets } from '../settings/secrets.ts';
import { createDocuments } from '../stores/documents.ts';
import { createKeyStore } from '../stores/keys.ts';
import { createMemberStore } from '../stores/members.ts';
import { createTerminalStore } from '../stores/terminals.ts';
import { createCounters } from '../tables/counters.ts';
import { createMemberAccounts } from './account.ts';
import type { Info } from './answers.ts';
import { createApp } from './app.ts';
import { createCompanySignIn } from './company.ts';
import { createKeyring } from './keyring.ts';
import { createLimits } from './limits.ts';
import { createAccountsLog } from './log.ts';
import { describeDeployment, type PageFile } from './pages.ts';
import { type AccountsRequest, checkOrigin, type Endpoints } from './request.ts';
import { pagePath } from './site.ts';
import { createTerminalSignIn } from './terminals.ts';
import { createWalletSignIn } from './wallet.ts';

/** What the function needs from outside. */
export interface AccountsDependencies extends Aws {
  readonly access: AwsAccess;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  /** Present if the process stays alive between requests: runs a task at intervals. */
  readonly runEvery?: RunEvery;
  /** How the function is served, unless APP_URL says it. */
  readonly scheme: 'http' | 'https';
}

/** Assembles the accounts function, once per start. */
export function createAccounts(config: AccountsConfig, dependencies: AccountsDependencies): App {
  const { access, callDynamoDb, readSecret, writeLog, now, runEvery } = dependencies;
  const documents = createDocuments(access);
  const keys = createKeyStore(documents, config.keysTable);
  const members = createMemberStore(documents, config.keysTable);
  const counters = createCounters(callDynamoDb, config.quotaTable, now);
  const log = createAccountsLog({ ...config, write: writeLog, now });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(config, { readSecret, now, onStale: log.secretNotRefreshed, runEvery });

  const shared = { ...config, ...secrets, keys, members, counters, log, now };
  const forSigningIn = { ...shared, keyring: createKeyring(shared), limits: createLimits(shared) };
  const accounts = createMemberAccounts(forSigningIn);

  const signIn = waysToSignIn(config);
  const ways: readonly Endpoints[] = signIn.map((way) =>
    way === 'wallet' ? createWalletSignIn(forSigningIn, accounts) : createCompanySignIn(forSigningIn, accounts),
  );
  const terminals = createTerminalStore(documents, config.keysTable);
  const forAllWays = [accounts, createTerminalSignIn(forSigningIn, terminals)];
  return createApp({
    ...config,
    ...dependencies,
    accounts,
    log,
    parts: [
      ...(hasClientsPage(config) ? [createInfo(config, signIn)] : []),
      ...(ways.length > 0 ? [...forAllWays, ...ways] : []),
    ],
    describe: (site) => describeDeployment(config, site),
    findNetwork: createFindNetwork({ ...config, ...secrets }),
  });
}

/** The facts that the page shows before anyone signs in. */
function createInfo(config: AccountsConfig, signIn: Info['signIn']): Endpoints {
  const read = async (request: AccountsRequest): Promise<Info> => {
    checkOrigin(request);
    const { serviceName, gatewayUrl = request.site.baseUrl, contextWindow, memberLimit } = config;
    return { serviceName, gatewayUrl, contextWindow, memberLimit, network: request.network.name, signIn };
  };
  return { facts: { [`${pagePath}/info`]: read } };
}
