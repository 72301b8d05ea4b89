import type { AccountsDependencies } from './accounts/accounts.ts';
import type { PageFile } from './accounts/pages.ts';
import { isPageCall } from './accounts/site.ts';
import { type HttpServer, startHttpServer } from './engines/http-server.ts';
import { mostConnections } from './engines/listen.ts';
import { createGateway, type GatewayDependencies } from './gateway.ts';
import { warnOfLostReasoning } from './hiding/lost-reasoning.ts';
import { warnOfNamesInCode } from './hiding/names-in-code.ts';
import type { DoInThread } from './jobs/jobs.ts';
import { createThreads, queueJobs } from './jobs/threads.ts';
import { createLog, type WriteLog } from './report/log.ts';
import { headerNames } from './request/headers.ts';
import type { App } from './request/incoming-request.ts';
import { createRefuse } from './request/refuse.ts';
import type { Config, ServerConfig } from './settings/config.ts';
import { warnOfOpenSpending } from './settings/open-spending.ts';
import type { Environment } from './settings/read-settings.ts';
import type { RunEvery } from './settings/refresh.ts';
import type { ReadSecret } from './settings/secrets.ts';
import { slipWarnings } from './settings/variable-names.ts';
import { keyWarnings, pageWarnings } from './settings/warnings.ts';
import { workFactsOf } from './steps/body-jobs.ts';
import type { AdminStore, Store } from './store/store.ts';
import { fromFault } from './upstream/fault.ts';

/** Opens what only the pages for people need. */
type OpenAdminStore = () => Promise<AdminStore>;

/** What the server needs from outside. */
interface ServerDependencies {
  readonly store: Store;
  readonly openAdminStore: OpenAdminStore;
  readonly readSecret: ReadSecret;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: WriteLog;
  readonly now: () => number;
  readonly runEvery: RunEvery;
}

/** Serves the gateway over HTTP, and the wallet's page out of the same process where it has none of its own. */
export async function startServer(
  config: Config,
  server: ServerConfig,
  dependencies: ServerDependencies,
): Promise<HttpServer> {
  const { store, openAdminStore, readSecret, pageFiles, writeLog, now, runEvery } = dependencies;
  const { host, port, clientAddress, bodyBudget, servesWallet, scheme } = server;
  const spans = await openSpans(config.service.serviceName, server);
  const maxConnections = mostConnections();
  const log = createLog({ write: writeLog, now, metricsNamespace: config.log.metricsNamespace });
  const createApp = servesWallet ? createGatewayWithAccounts : createGateway;
  const started = await startHttpServer({
    host,
    port,
    clientAddress,
    bodyBudget,
    app: await createApp(config, {
      store,
      openAdminStore,
      readSecret,
      pageFiles,
      writeLog,
      now,
      runEvery,
      onFinished: spans?.finished,
      scheme,
      upstreamSockets: maxConnections,
      doInThread: createWorkers(config),
    }),
    refuse: createRefuseFor(config, now),
    requestBodyLimit: config.request.requestBodyLimit,
    maxConnections,
    // The charge of a refund that is given up stays, and the log says so.
    onLastMoment: store.giveUp,
    onFault: (error) => log.fault('fault past the app', error),
  });
  return {
    ...started,
    async stop(graceMs) {
      await started.stop(graceMs);
      await spans?.close();
    },
  };
}

/** Answers what is no call of the gateway. */
export function createRefuseFor({ service, quota, request }: Config, now: () => number) {
  return createRefuse({
    ...request,
    names: headerNames(service.serviceName),
    guestLimit: quota.guestLimit,
    now,
  });
}

/** Beside this code, as a bundle or as sources. */
const workerEntry = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
/** In MiB: what a thread needs by itself, and for each of a body's, by the worst that one can hold. */
const [heapOfThread, heapPerBody] = [64, 32];

/** The threads that do long work on texts. */
export function createWorkers(config: Config): DoInThread {
  const heap = heapOfThread + heapPerBody * Math.ceil(config.request.requestBodyLimit / 1_048_576);
  return queueJobs(createThreads({ entry: workerEntry, facts: workFactsOf(config), heap, fromFault }));
}

/** Spans for a collector, if there is one. Their library is loaded for nobody else. */
async function openSpans(serviceName: string, { otelExporterOtlpEndpoint, otelSemconvStabilityOptIn }: ServerConfig) {
  if (otelExporterOtlpEndpoint === undefined) return undefined;
  const { createSpans } = await import('./report/spans.ts');
  return createSpans({ serviceName, otelExporterOtlpEndpoint, otelSemconvStabilityOptIn });
}

/**
 * Both apps as one, for a process that serves both; the pages for people have paths of their own. What only these need is loaded
 * apart: AWS's SDK and the libraries of wallets.
 */
export async function createGatewayWithAccounts(
  config: Config,
  {
    openAdminStore,
    ...dependencies
  }: GatewayDependencies &
    Omit<AccountsDependencies, 'adminStore'> & {
      readonly openAdminStore: OpenAdminStore;
    },
): Promise<App> {
  const [{ createAccounts }, adminStore] = await Promise.all([import('./accounts/accounts.ts'), openAdminStore()]);
  const gateway = createGateway(config, dependencies);
  const accounts = createAccounts(config, { ...dependencies, adminStore });
  const { limit, remaining } = headerNames(config.service.serviceName);
  // Every answer at this address has them. For a page nothing is read of anyone's quota.
  const figures = { [limit]: String(config.quota.guestLimit), [remaining]: '0' };
  return async (call) => {
    if (!isPageCall(call)) return gateway(call);
    const { headers, ...response } = await accounts(call);
    return { ...response, headers: { ...headers, ...figures } };
  };
}

/** All that a start warns of, in the order in which it says so: what starts, but not as its operator may think. */
export function startWarnings(environment: Environment, config: Config, servesWallet: boolean): string[] {
  return [
    ...slipWarnings(environment),
    ...keyWarnings(config),
    ...warnOfNamesInCode(config.upstreams.all, config.hiding),
    ...warnOfLostReasoning(config.upstreams.all, config.hiding),
    ...warnOfOpenSpending(config),
    ...(servesWallet ? pageWarnings(config) : []),
  ];
}
