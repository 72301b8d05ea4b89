import { createApp } from './app.ts';
import { dialects } from './dialects/index.ts';
import { createHiding } from './hiding/read-scrubber.ts';
import { createCallers } from './identity/identify.ts';
import { createFindNetwork } from './identity/network.ts';
import { createJobs, type DoInThread } from './jobs/jobs.ts';
import { createLimits } from './quota/limits.ts';
import type { Log } from './report/log.ts';
import { headerNames } from './request/headers.ts';
import type { App } from './request/incoming-request.ts';
import { type Config, keysUrlOf, waysToSignIn } from './settings/config.ts';
import { createMinuteCache, type RunEvery } from './settings/refresh.ts';
import { createSecrets, type ReadSecret, type ReadToken } from './settings/secrets.ts';
import { createWork, defineJobs, workFactsOf } from './steps/body-jobs.ts';
import type { Store } from './store/store.ts';
import { translates } from './upstream/destination.ts';
import type { CheckUpstreams } from './upstream/start-check.ts';
import { createUpstreams, prefetchKeys } from './upstream/upstreams.ts';

/** What the platform provides. */
export interface GatewayDependencies {
  readonly store: Store;
  readonly readSecret: ReadSecret;
  readonly readToken: ReadToken;
  readonly log: Log;
  readonly now: () => number;
  /** Runs a task at intervals. Present only if the process stays alive between requests. */
  readonly runEvery?: RunEvery;
  /** Checks the upstreams at the start. Present only if the process stays alive between requests. */
  readonly checkUpstreams?: CheckUpstreams | undefined;
  /** Whether the account pages are at the same address. */
  readonly servesPages?: boolean;
  /** The most upstream connections at once; unlimited if absent. */
  readonly upstreamSockets?: number | undefined;
  /** Runs CPU-bound work in a worker thread. Present only if the process serves requests concurrently. */
  readonly doInThread?: DoInThread | undefined;
}

/** Wires the gateway together, once per process. */
export function createGateway(config: Config, dependencies: GatewayDependencies): App {
  const { store, readSecret, readToken, log, now, runEvery } = dependencies;
  const { service, accounts, identity, quota, budget, request, upstreams } = config;
  const { all } = upstreams;
  if (config.log.deployedCommit !== undefined) log.started(config.log.deployedCommit);
  const refreshing = { now, runEvery, onStale: log.secretNotRefreshed };
  const secrets = createSecrets(config.secrets, { readSecret, readToken, ...refreshing });
  const { upstreamAccess: readAccess, subkey } = secrets;
  const jobs = defineJobs(createWork(workFactsOf(config), loadTranslating), createJobs(dependencies.doInThread));
  const readStop = createMinuteCache(store.readStop, { now, runEvery, onStale: log.stopNotRead });
  const readScrubber = createHiding(all, config.hiding, service.serviceName, readAccess);

  // Prefetched while the process starts. If one fails, the first request that needs it tries again.
  const prefetched = [
    ...(translates(all, dialects) ? [loadTranslating()] : []),
    prefetchKeys(all, config.secrets.upstreamSecretId, readAccess, log),
    readScrubber(),
    secrets.networkKey(),
    readStop(),
  ];
  for (const loading of prefetched) loading.catch(() => {});
  void dependencies.checkUpstreams?.(all, dialects, readAccess, log.upstreamChecked);

  return createApp(config, {
    servesPages: dependencies.servesPages ?? false,
    names: headerNames(service.serviceName),
    findNetwork: createFindNetwork(identity, secrets),
    callers: createCallers({
      store: store.keys,
      access: accounts.access,
      guestLimit: quota.guestLimit,
      cacheTime: identity.identityCacheSeconds * 1000,
      corsOrigins: request.corsOrigins,
      appUrl: keysUrlOf(accounts),
      subkey,
      now,
    }),
    limits: createLimits({
      counters: store.counters,
      globalCounters: store.globalCounters,
      quota,
      budget,
      keysUrl: keysUrlOf(accounts),
      linksNetworks: waysToSignIn(accounts).includes('wallet'),
      requestTimeout: request.requestTimeout,
      log,
      now,
    }),
    upstreams: createUpstreams(upstreams, { sockets: dependencies.upstreamSockets, readAccess, subkey, jobs, now }),
    readStop,
    readScrubber,
    loadTranslating,
    subkey,
    jobs,
    log,
    now,
  });
}

/** Lazy: few deployments translate, and those that do load it at startup. */
const loadTranslating = () => import('./forward/translating.ts');
