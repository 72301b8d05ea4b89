import { memberBudgetOf } from '../budget/budget-window.ts';
import { createFindNetwork } from '../identity/network.ts';
import type { OnMeasured } from '../report/log.ts';
import type { App } from '../request/incoming-request.ts';
import { createLostPage } from '../request/lost-page.ts';
import { type AccountsConfig, clientsPageTitle, hasClientsPage, waysToSignIn } from '../settings/config.ts';
import type { RunEvery } from '../settings/refresh.ts';
import { createSecrets, type ReadSecret } from '../settings/secrets.ts';
import type { AdminStore, Store } from '../store/store.ts';
import { createMemberAccounts } from './account.ts';
import { createApp } from './accounts-app.ts';
import { createAccountsLog } from './accounts-log.ts';
import type { Info } from './answers.ts';
import { createDeviceFlow } from './device-flow.ts';
import { createKeyring } from './keyring.ts';
import { createOidcSignIn } from './oidc.ts';
import { createLimits } from './page-limits.ts';
import { type AccountsRequest, checkOrigin, type Endpoints } from './page-request.ts';
import { describeDeployment, type PageFile } from './pages.ts';
import { pagePath } from './site.ts';
import { createWalletSignIn } from './wallet.ts';

/** What the platform provides. */
export interface AccountsDependencies {
  readonly store: Pick<Store, 'counters'>;
  readonly adminStore: Pick<AdminStore, 'keys' | 'members' | 'deviceFlow'>;
  readonly readSecret: ReadSecret;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly onMeasured?: OnMeasured | undefined;
  /** Whether lines carry CloudWatch's metrics; by default they do. */
  readonly logMetrics?: boolean;
  readonly now: () => number;
  /** Runs a task at intervals. Present only if the process stays alive between requests. */
  readonly runEvery?: RunEvery;
  /** The scheme that callers use, unless APP_URL says it. */
  readonly scheme: 'http' | 'https';
  /** Whether it was started from a terminal, where its keys are made too. */
  readonly onOwnMachine?: boolean;
}

/** Wires the accounts app together, once per process. */
export function createAccounts(config: AccountsConfig, dependencies: AccountsDependencies): App {
  const { store, adminStore, readSecret, pageFiles, writeLog, onMeasured, now, runEvery, scheme, onOwnMachine } =
    dependencies;
  const { service, accounts: settings, identity, quota, budget } = config;
  const { counters } = store;
  const { keys, members, deviceFlow } = adminStore;
  const metricsNamespace = dependencies.logMetrics === false ? undefined : config.log.metricsNamespace;
  const log = createAccountsLog({ write: writeLog, onMeasured, now, metricsNamespace });
  if (config.log.deployedCommit !== undefined) log.started(config.log.deployedCommit);
  const secrets = createSecrets(config.secrets, { readSecret, now, onStale: log.secretNotRefreshed, runEvery });
  const { subkey, oidcClientSecret: readClientSecret } = secrets;

  const { oidcKeys, oidcKeyDays, deviceKeyDays } = settings;
  const keyring = createKeyring({ keys, members, oidcKeys, oidcKeyDays, now });
  const limits = createLimits({ counters, now });
  const accounts = createMemberAccounts({
    keys,
    members,
    counters,
    keyring,
    limits,
    serviceName: service.serviceName,
    memberLimit: quota.memberLimit,
    memberBudget: memberBudgetOf(budget),
    currency: budget.currency,
    log,
    now,
  });

  const signIn = waysToSignIn(settings);
  const ways: readonly Endpoints[] = signIn.map((way) =>
    way === 'wallet'
      ? createWalletSignIn({ accounts, keys, members, limits, log, now })
      : createOidcSignIn({ accounts, settings, readClientSecret, subkey, keyring, limits, log, now }),
  );
  const deviceEndpoints = createDeviceFlow({ deviceFlow, service, deviceKeyDays, subkey, keyring, limits, log, now });
  return createApp({
    serviceName: service.serviceName,
    appUrl: settings.appUrl,
    scheme,
    lostPage: createLostPage({
      serviceName: service.serviceName,
      pagesUrl: settings.appUrl ?? '',
      clients: clientsPageTitle(settings),
    }),
    pageFiles,
    accounts,
    log,
    parts: [
      ...(hasClientsPage(settings) ? [createInfo(service, quota.memberLimit, signIn)] : []),
      ...(ways.length > 0 ? [accounts, deviceEndpoints, ...ways] : []),
    ],
    describe: (site) => describeDeployment(config, site, onOwnMachine),
    findNetwork: createFindNetwork(identity, secrets),
  });
}

/** What the page shows before anyone signs in. */
function createInfo(service: AccountsConfig['service'], memberLimit: number, signIn: Info['signIn']): Endpoints {
  const read = async (request: AccountsRequest): Promise<Info> => {
    checkOrigin(request);
    const { serviceName, gatewayUrl = request.site.baseUrl, contextWindow } = service;
    return { serviceName, gatewayUrl, contextWindow, memberLimit, network: request.network.name, signIn };
  };
  return { facts: { [`${pagePath}/info`]: read } };
}
