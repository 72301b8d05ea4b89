import type { AccountsDependencies } from './accounts/accounts.ts';
import type { PageFile } from './accounts/pages.ts';
import { isPageRequest } from './accounts/site.ts';
import { type HttpServer, startHttpServer } from './engines/http-server.ts';
import { mostConnections } from './engines/listen.ts';
import { startMetricsServer } from './engines/metrics-server.ts';
import { createGateway, type GatewayDependencies } from './gateway.ts';
import { warnOfLostReasoning } from './hiding/lost-reasoning.ts';
import { warnOfNamesInCode } from './hiding/names-in-code.ts';
import type { DoInThread } from './jobs/jobs.ts';
import { createThreads, queueJobs } from './jobs/threads.ts';
import { createLog, type Log, type OnFinished, type WriteLog } from './report/log.ts';
import { createPrometheus } from './report/prometheus.ts';
import { headerNames } from './request/headers.ts';
import type { App } from './request/incoming-request.ts';
import { createRefuse } from './request/refuse.ts';
import type { Config, ServerConfig } from './settings/config.ts';
import { warnOfOpenSpending } from './settings/open-spending.ts';
import type { Environment } from './settings/read-settings.ts';
import type { RunEvery } from './settings/refresh.ts';
import type { ReadSecret, ReadToken } from './settings/secrets.ts';
import { typoWarnings } from './settings/variable-names.ts';
import { keyWarnings, pageWarnings } from './settings/warnings.ts';
import { workFactsOf } from './steps/body-jobs.ts';
import type { AdminStore, Store } from './store/store.ts';
import { fromFault } from './upstream/fault.ts';
import { checkUpstreams } from './upstream/start-check.ts';

/** Lazy: only the account pages need it. */
type OpenAdminStore = () => Promise<AdminStore>;

/** What the process provides. */
interface ServerDependencies {
  readonly store: Store;
  readonly openAdminStore: OpenAdminStore;
  readonly readSecret: ReadSecret;
  readonly readToken: ReadToken;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: WriteLog;
  readonly now: () => number;
  readonly runEvery: RunEvery;
  readonly onOwnMachine?: boolean;
}

/** The server, and where it serves its metrics, if anywhere. */
export interface GatewayServer extends HttpServer {
  readonly log: Log;
  readonly metricsUrl: string | undefined;
}

/** Serves the gateway over HTTP, together with the account pages unless these have a function of their own. */
export async function startServer(
  config: Config,
  server: ServerConfig,
  dependencies: ServerDependencies,
): Promise<GatewayServer> {
  const { store, openAdminStore, readSecret, readToken, pageFiles, writeLog, now, runEvery } = dependencies;
  const { host, port, clientAddress, bodyBudget, metricsPort, logMetrics, servesWallet, scheme, startCheck } = server;
  const spans = await openSpans(config.service.serviceName, server);
  const maxConnections = mostConnections();
  const prometheus = metricsPort === undefined ? undefined : createPrometheus(now);
  const onMeasured = prometheus?.measured;
  const onFinished: OnFinished = (...finished) => {
    spans?.finished(...finished);
    prometheus?.finished(...finished);
  };
  const metricsNamespace = logMetrics ? config.log.metricsNamespace : undefined;
  const log = createLog({ write: writeLog, onFinished, onMeasured, now, metricsNamespace });
  const onFault = (error: unknown) => log.fault('fault past the app', error);
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
      readToken,
      pageFiles,
      writeLog,
      log,
      now,
      runEvery,
      checkUpstreams: startCheck ? checkUpstreams : undefined,
      onOwnMachine: dependencies.onOwnMachine ?? false,
      scheme,
      upstreamSockets: maxConnections,
      doInThread: createWorkers(config),
    }),
    refuse: createRefuseFor(config, now),
    requestBodyLimit: config.request.requestBodyLimit,
    maxConnections,
    // A refund that is abandoned here leaves its charge standing, and the log says so.
    onLastMoment: store.giveUp,
    onFault,
  });
  const render = prometheus && (() => prometheus.render(started.state()));
  const metrics = render && (await startMetricsServer({ host, port: metricsPort ?? 0, render, onError: onFault }));
  return {
    ...started,
    log,
    metricsUrl: metrics?.url,
    async stop(...times) {
      await started.stop(...times);
      metrics?.stop();
      await spans?.close();
    },
  };
}

/** Renders the response to a request that never reaches the gateway, such as malformed HTTP. */
export function createRefuseFor({ service, quota, request }: Config, now: () => number) {
  return createRefuse({
    ...request,
    names: headerNames(service.serviceName),
    guestLimit: quota.guestLimit,
    now,
  });
}

/** Next to this file, bundled or not. */
const workerEntry = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
/** In MiB: what a worker thread needs by itself, and for each MiB of the worst possible body. */
const [heapOfThread, heapPerBody] = [64, 32];

/** The worker threads for CPU-bound work on bodies. */
export function createWorkers(config: Config): DoInThread {
  const heap = heapOfThread + heapPerBody * Math.ceil(config.request.requestBodyLimit / 1_048_576);
  return queueJobs(createThreads({ entry: workerEntry, facts: workFactsOf(config), heap, fromFault }));
}

/** Spans, if an OpenTelemetry collector is configured. Lazy: nobody else loads the library. */
async function openSpans(serviceName: string, { otelExporterOtlpEndpoint, otelSemconvStabilityOptIn }: ServerConfig) {
  if (otelExporterOtlpEndpoint === undefined) return undefined;
  const { createSpans } = await import('./report/spans.ts');
  return createSpans({ serviceName, otelExporterOtlpEndpoint, otelSemconvStabilityOptIn });
}

/**
 * The gateway and the account pages as one app, told apart by path. What only the pages need is loaded lazily: the AWS SDK and the
 * wallet libraries.
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
  const gateway = createGateway(config, { ...dependencies, servesPages: true });
  const accounts = createAccounts(config, { ...dependencies, adminStore });
  const { limit, remaining } = headerNames(config.service.serviceName);
  // Every response of this host has quota headers. For a page, no counter is read.
  const quotaHeaders = { [limit]: String(config.quota.guestLimit), [remaining]: '0' };
  return async (incoming) => {
    if (!isPageRequest(incoming)) return gateway(incoming);
    const { headers, ...response } = await accounts(incoming);
    return { ...response, headers: { ...headers, ...quotaHeaders } };
  };
}

/** All startup warnings, in order: settings that are valid, but may not do what the operator expects. */
export function startWarnings(environment: Environment, config: Config, servesWallet: boolean): string[] {
  return [
    ...typoWarnings(environment),
    ...keyWarnings(config),
    ...warnOfNamesInCode(config.upstreams.all, config.hiding),
    ...warnOfLostReasoning(config.upstreams.all, config.hiding),
    ...warnOfOpenSpending(config),
    ...(servesWallet ? pageWarnings(config) : []),
  ];
}
