import { createApp } from './app.ts';
import type { Aws } from './aws/call-service.ts';
import type { Dialect } from './dialects/dialect.ts';
import { embeddings } from './dialects/embeddings.ts';
import { createDialects } from './dialects/index.ts';
import { createIdentify } from './identity/identify.ts';
import { createHashMember, memberLabel } from './identity/member.ts';
import { createFindNetwork } from './identity/network.ts';
import { createJobs, type DefineJob, type DoInThread } from './jobs/jobs.ts';
import { loadOnce } from './load-once.ts';
import { createModels } from './models.ts';
import { createToken } from './quota/counter-store.ts';
import { createDeploymentLimit, createSpendLimit } from './quota/deployment-limits.ts';
import { createQuota } from './quota/quota.ts';
import { createLog, type Log, type OnFinished, type WriteLog } from './report/log.ts';
import type { App } from './request/call.ts';
import { createRequestId, headerNames } from './request/headers.ts';
import { createRouter } from './request/routes.ts';
import { type Config, keysUrlOf, memberBudgetOf, waysToSignIn } from './settings/config.ts';
import { hiddenNames } from './settings/hidden-names.ts';
import { secretHint } from './settings/missing-keys.ts';
import { createMinuteCache, type RunEvery } from './settings/refresh.ts';
import { createSecrets } from './settings/secrets.ts';
import { createScrubber } from './stream/scrub.ts';
import { createCounters } from './tables/counters.ts';
import { createKeyReader } from './tables/keys.ts';
import { createReadStop } from './tables/stop.ts';
import { createTallies } from './tables/tallies.ts';
import { createRankKeys } from './upstream/conversation.ts';
import { type Asked, addressAt } from './upstream/destination.ts';
import { createFailover } from './upstream/failover.ts';
import { createExchange } from './upstream/http-client.ts';
import { createPool, createReadScrubber, type ReadAccess } from './upstream/pool.ts';
import { createPrepare } from './upstream/prepare.ts';
import { createWork, workFactsOf } from './work.ts';

/** What the gateway needs from outside. */
export interface GatewayDependencies extends Aws {
  readonly writeLog: WriteLog;
  readonly onFinished?: OnFinished | undefined;
  readonly now: () => number;
  /** Present if the process stays alive between requests: runs a task at intervals. */
  readonly runEvery?: RunEvery;
  /** The most connections to upstreams at once; unlimited if absent. */
  readonly upstreamSockets?: number | undefined;
  /** Present if the process serves several requests at once: does what would keep the others waiting. */
  readonly doInThread?: DoInThread | undefined;
}

/** Assembles the gateway, once per start. */
export function createGateway(config: Config, dependencies: GatewayDependencies): App {
  const { callDynamoDb, readSecret, writeLog, onFinished, now, runEvery } = dependencies;
  const { service, accounts, identity, quota, budget, request, upstreams, tables } = config;
  const log = createLog({ write: writeLog, onFinished, now, metricsNamespace: config.log.metricsNamespace });
  if (config.log.deployedCommit !== undefined) log.started(config.log.deployedCommit);
  const secrets = createSecrets(config.secrets, { readSecret, now, runEvery, onStale: log.secretNotRefreshed });
  const dialects = createDialects({ streamUsage: upstreams.upstreamStreamUsage });
  const jobs = defineJobs(createWork(workFactsOf(config), loadTranslating), createJobs(dependencies.doInThread));
  const readScrubber = createHiding(config, secrets);
  const stopReader = createReadStop(callDynamoDb, tables.keysTable);
  const readStop = createMinuteCache(stopReader, { now, runEvery, onStale: log.stopNotRead });

  // Read ahead while the environment starts. If one fails, the first request that needs it reads again.
  const readings = [
    ...loadCode(config, dialects),
    readKeysAhead(config, secrets.upstreamAccess, log),
    readScrubber(),
    secrets.networkKey(),
    readStop(),
  ];
  for (const reading of readings) reading.catch(() => {});

  return createApp({
    guestLimit: quota.guestLimit,
    refundRefusals: quota.refundRefusals,
    prices: budget.prices,
    reservedOutput: budget.reservedOutput,
    currency: budget.currency,
    requestTimeout: request.requestTimeout,
    requestBodyLimit: request.requestBodyLimit,
    keepAliveInterval: request.keepAliveInterval,
    rateLimitHeaders: request.rateLimitHeaders,
    corsOrigins: request.corsOrigins,
    upstreamTrace: upstreams.upstreamTrace,
    idleTimeout: upstreams.upstreamIdleTimeout,
    hideInText: config.hiding.hideInText,
    findRoute: createRouter(service.offersEmbeddings ? [...dialects, embeddings] : dialects),
    names: headerNames(service.serviceName),
    models: createModels(service),
    readScrubber,
    ...createUpstreamSide(config, secrets, dependencies, jobs),
    readStop,
    readJson: jobs.readCall,
    rewriteWhole: jobs.rewriteWhole,
    loadTranslating,
    callerIdKey: upstreams.upstreamCallerIds === 'hash' ? () => secrets.subkey('caller ids') : undefined,
    identify: createIdentify({
      store: createKeyReader(callDynamoDb, tables.keysTable),
      access: accounts.access,
      guestLimit: quota.guestLimit,
      cacheTime: identity.identityCacheSeconds * 1000,
      corsOrigins: request.corsOrigins,
      appUrl: keysUrlOf(accounts),
      now,
    }),
    hashMember: createHashMember(() => secrets.subkey(memberLabel)),
    ...createLimits(config, { callDynamoDb, now, log }),
    log,
    now,
    findNetwork: createFindNetwork({
      edgeHeader: identity.edgeHeader,
      edgeOnly: identity.edgeOnly,
      edgeSecrets: secrets.edgeSecrets,
      networkKey: secrets.networkKey,
    }),
    createRequestId,
  });
}

type Secrets = ReturnType<typeof createSecrets>;

/** What hides the upstreams' names, and the keys that they are sent now. */
function createHiding({ upstreams: { all }, hiding, service }: Config, { upstreamAccess }: Secrets) {
  const createFor = (hidden: readonly string[]) => createScrubber(hidden, service.serviceName);
  return createReadScrubber(all, hiddenNames(all, hiding.upstreamNames), upstreamAccess, createFor);
}

/** What asks upstreams. */
function createUpstreamSide(
  { upstreams: { all, upstreamConnectTimeout } }: Config,
  { upstreamAccess, subkey }: Secrets,
  { now, upstreamSockets }: GatewayDependencies,
  { translate, removeSeals, isAccountBound }: Jobs,
) {
  const pool = createPool({ upstreams: all, readAccess: upstreamAccess, rankKeys: createRankKeys(subkey), now });
  const exchange = createExchange({ connectTimeout: upstreamConnectTimeout, sockets: upstreamSockets, now });
  // Requests are translated into these.
  const plain = createDialects({ streamUsage: false });
  const readSealSalt = () => subkey('seals');
  const prepare = createPrepare({ translate, removeSeals, dialects: plain, readSealSalt });
  return {
    askUpstreams: createFailover({ pool, send: exchange.send, prepare, isAccountBound, now }),
    readSealSalt,
    isConfigured: pool.hasKeys,
    async connectAhead(asked: Asked) {
      const upstream = await pool.next((one) => addressAt(one, asked) !== undefined);
      const address = upstream && addressAt(upstream, asked);
      if (address !== undefined) exchange.connectAhead(address);
    },
  };
}

/** Loads the code that only some deployments need, where this is one of them: what translates, and what seals. */
function loadCode({ upstreams }: Config, dialects: readonly Dialect[]): Promise<unknown>[] {
  const translates = upstreams.all.some(
    (one) => one.signsThinking || dialects.some(({ name }) => !one.dialects.some((spoken) => spoken === name)),
  );
  return translates ? [loadTranslating()] : [];
}

/** Reads the keys ahead, and says at once what their secret lacks: nobody should learn it from a refused request. */
async function readKeysAhead(
  { upstreams: { all }, secrets: { upstreamSecretId } }: Config,
  readAccess: ReadAccess,
  log: Log,
): Promise<void> {
  if (upstreamSecretId === undefined) return;
  try {
    const accesses = await Promise.all(all.map(readAccess));
    const keyless = all.filter((_upstream, place) => accesses[place]?.keys.length === 0);
    if (keyless.length === 0) return;
    log.keysMissing(upstreamSecretId, secretHint(keyless, all));
  } catch (error) {
    log.keysNotRead(upstreamSecretId, error);
  }
}

/** What counts requests: those of each caller, and those of all together. */
function createLimits(
  { accounts, quota: settings, budget, request, tables }: Config,
  { callDynamoDb, now, log }: Pick<GatewayDependencies, 'callDynamoDb' | 'now'> & { readonly log: Log },
) {
  const { guestLimit, guestWindow, memberLimit, burstLimit, dailyLimit, guestDailyLimit } = settings;
  const limits = { guestLimit, guestWindow, memberLimit, burstLimit, memberBudget: memberBudgetOf(budget) };
  const wording = { appUrl: keysUrlOf(accounts), linksNetworks: waysToSignIn(accounts).includes('wallet') };
  const tallies = createTallies(callDynamoDb, tables.quotaTable);
  const quota = createQuota({
    counters: createCounters(callDynamoDb, tables.quotaTable, now),
    limits,
    ...wording,
    refundRefusals: settings.refundRefusals,
    currency: budget.currency,
    requestTimeout: request.requestTimeout,
    now,
    createToken,
    onLost: log.answerLost,
    onNearlySpent: log.budgetNearlySpent,
    onAbandoned: log.reservationsLost,
  });
  const { spendLimit } = budget;
  return {
    quota,
    budgets: limits,
    deploymentLimit:
      (dailyLimit ?? guestDailyLimit) === undefined
        ? undefined
        : createDeploymentLimit({ dailyLimit, guestDailyLimit, ...wording, now, tallies, onLost: log.countLost }),
    spendLimit:
      spendLimit === undefined
        ? undefined
        : createSpendLimit({ tallies, now, spendLimit, onLost: (error) => log.countLost(error, 'spend_limit') }),
  };
}

/** Few translate. What does so is read by their start. */
const loadTranslating = loadOnce(() => import('./translating.ts'));

/** What translating takes, for each character. Measured: see `test/lambda/growth`, 16.1 for messages of responses in 30 bytes each. */
const bytesToTranslate = 20;

type Jobs = ReturnType<typeof defineJobs>;

/** The work on texts, done here or in a thread. */
function defineJobs(work: ReturnType<typeof createWork>, define: DefineJob) {
  return {
    readCall: define('readCall', work.readCall),
    isAccountBound: define('isAccountBound', work.isAccountBound),
    removeSeals: define('removeSeals', work.removeSeals),
    translate: define('translate', work.translate, { opensTexts: true, bytesPerCharacter: bytesToTranslate }),
    rewriteWhole: define('rewriteWhole', work.rewriteWhole, {
      ...{ isLenient: true, opensTexts: true, bytesPerCharacter: bytesToTranslate },
    }),
  };
}
