import { randomBytes } from 'node:crypto';
import type { Aws } from '../aws/call-service.ts';
import { createFindNetwork, createLocateViewer } from '../identity/network.ts';
import { createToken } from '../quota/counter-store.ts';
import type { App } from '../request/call.ts';
import { createRequestId, headerNames } from '../request/headers.ts';
import { type AccountsConfig, memberBudgetOf, waysToSignIn } from '../settings/config.ts';
import type { RunEvery } from '../settings/refresh.ts';
import { createSecrets } from '../settings/secrets.ts';
import { createCounters } from '../tables/counters.ts';
import { createKeyStore } from '../tables/keys.ts';
import { createMemberStore } from '../tables/members.ts';
import { createTerminalStore } from '../tables/terminals.ts';
import { createAccountAnswers } from './account-answers.ts';
import { createActions } from './actions.ts';
import { createAccountsApp } from './app.ts';
import { createCompanySignIn } from './company-sign-in.ts';
import { createCompanyWay, ofCompany } from './company-way.ts';
import { createKeyring } from './keyring.ts';
import { createLimits, createReadQuota } from './limits.ts';
import { createAccountsLog } from './log.ts';
import { describeDeployment, type PageFile } from './pages.ts';
import { createSessions } from './sessions.ts';
import { createTerminals } from './terminals.ts';
import { createWalletSignIn } from './wallet-sign-in.ts';
import { createWalletWay, ofWallets } from './wallet-way.ts';
import { createFindRules } from './ways.ts';

/** What the function needs from outside. */
export interface AccountsDependencies extends Aws {
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
  const { callDynamoDb, readSecret, writeLog, now, runEvery } = dependencies;
  const keys = createKeyStore(callDynamoDb, config.keysTable);
  const members = createMemberStore(callDynamoDb, config.keysTable);
  const counters = createCounters(callDynamoDb, config.quotaTable, now);
  const log = createAccountsLog({ ...config, write: writeLog, now });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(
    { ...config, upstreamSecretId: undefined },
    { readSecret, now, onStale: log.secretNotRefreshed, runEvery },
  );
  const sessions = createSessions({ store: members, now, randomBytes });

  const own = { wallet: ofWallets, company: ofCompany(config) };
  const findRules = createFindRules(Object.values(own));
  const keyring = createKeyring({ keys, members, findRules, now, randomBytes });
  const limits = createLimits({ counters, findRules, now, createToken });
  const terminals = createTerminals({
    ...{ ...config, keyring, wasSignedOut: members.wasSignedOut, limits, now, randomBytes, subkey: secrets.subkey },
    store: createTerminalStore(callDynamoDb, config.keysTable),
    onKey: (request, keyId) => log.granted(request, { keyId }),
  });
  const readQuota = createReadQuota({ ...config, memberBudget: memberBudgetOf(config), counters, now });
  const accounts = createAccountAnswers({ sessions, keyring, readQuota, findLink: keys.findLink, findRules, log, now });

  const signIn = createWalletSignIn({ store: members, now, randomBytes });
  const offered = waysToSignIn(config);
  const ways = offered.map((name) =>
    name === 'wallet'
      ? createWalletWay({ signIn, accounts, limits, linkNetwork: keys.link, log, now })
      : createCompanyWay(own.company, {
          ...{ accounts, keyring, limits },
          signIn: createCompanySignIn({ ...config, ...secrets, clientSecret: secrets.oidcClientSecret, now }),
        }),
  );
  const actions = createActions({ ...config, accounts, keyring, limits, terminals, waysToSignIn: offered, log });
  const guests = config.access === 'open' && config.guestLimit > 0;
  return createAccountsApp({
    ...config,
    ...dependencies,
    names: headerNames(config.serviceName),
    ...{ actions, ways },
    describe: (site) => describeDeployment(config, { guests, ways: offered }, site),
    ...{ sessions, terminals, log },
    findNetwork: createFindNetwork({ ...secrets, locateViewer: createLocateViewer({ ...config, ...secrets }) }),
    createRequestId,
  });
}
