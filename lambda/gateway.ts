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
import { createWork } from './work.ts';

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
  const log = createLog({ write: writeLog, onFinished, now, metricsNamespace: config.metricsNamespace });
  if (config.deployedCommit !== undefined) log.started(config.deployedCommit);
  const secrets = createSecrets(config, { readSecret, now, runEvery, onStale: log.secretNotRefreshed });
  const dialects = createDialects({
    signsThinking: config.upstreamSignsThinking,
    streamUsage: config.upstreamStreamUsage,
  });
  const jobs = defineJobs(createWork(config, loadTranslating), createJobs(dependencies.doInThread));
  const readScrubber = createHiding(config, secrets);
  const stopReader = createReadStop(callDynamoDb, config.keysTable);
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
    ...config,
    idleTimeout: config.upstreamIdleTimeout,
    findRoute: createRouter(config.offersEmbeddings ? [...dialects, embeddings] : dialects),
    names: headerNames(config.serviceName),
    models: createModels(config),
    readScrubber,
    ...createUpstreamSide(config, secrets, dependencies, jobs),
    readStop,
    readJson: jobs.readCall,
    rewriteWhole: jobs.rewriteWhole,
    loadTranslating,
    callerIdKey: config.upstreamCallerIds === 'hash' ? () => secrets.subkey('caller ids') : undefined,
    identify: createIdentify({
      ...config,
      store: createKeyReader(callDynamoDb, config.keysTable),
      cacheTime: config.identityCacheSeconds * 1000,
      appUrl: keysUrlOf(config),
      now,
    }),
    hashMember: createHashMember(() => secrets.subkey(memberLabel)),
    ...createLimits(config, { callDynamoDb, now, log }),
    log,
    now,
    findNetwork: createFindNetwork({ ...config, ...secrets }),
    createRequestId,
  });
}

type Secrets = ReturnType<typeof createSecrets>;

/** What hides the upstreams' names, and the keys that they are sent now. */
function createHiding({ upstreams, upstreamNames, serviceName }: Config, { upstreamAccess }: Secrets) {
  const createFor = (hidden: readonly string[]) => createScrubber(hidden, serviceName);
  return createReadScrubber(upstreams, hiddenNames(upstreams, upstreamNames), upstreamAccess, createFor);
}

/** What asks upstreams. */
function createUpstreamSide(
  { upstreams, upstreamConnectTimeout }: Config,
  { upstreamAccess, subkey }: Secrets,
  { now, upstreamSockets }: GatewayDependencies,
  { translate, removeSeals, isAccountBound }: Jobs,
) {
  const pool = createPool({ upstreams, readAccess: upstreamAccess, rankKeys: createRankKeys(subkey), now });
  const exchange = createExchange({ connectTimeout: upstreamConnectTimeout, sockets: upstreamSockets, now });
  // Requests are translated into these: only clients of messages check signatures over what they are shown.
  const plain = createDialects({ signsThinking: false, streamUsage: false });
  const prepare = createPrepare({ translate, removeSeals, dialects: plain, readSealSalt: () => subkey('seals') });
  return {
    askUpstreams: createFailover({ pool, send: exchange.send, prepare, isAccountBound, now }),
    isConfigured: pool.hasKeys,
    async connectAhead(asked: Asked) {
      const upstream = await pool.next((one) => addressAt(one, asked) !== undefined);
      const address = upstream && addressAt(upstream, asked);
      if (address !== undefined) exchange.connectAhead(address);
    },
  };
}

/** Loads the code that only some deployments need, where this is one of them. */
function loadCode({ upstreams }: Config, dialects: readonly Dialect[]): Promise<unknown>[] {
  const translates = upstreams.some((one) =>
    dialects.some(({ name }) => !one.dialects.some((spoken) => spoken === name)),
  );
  return translates ? [loadTranslating()] : [];
}

/** Reads the keys ahead, and says at once what their secret lacks: nobody should learn it from a refused request. */
async function readKeysAhead({ upstreams, upstreamSecretId }: Config, readAccess: ReadAccess, log: Log): Promise<void> {
  if (upstreamSecretId === undefined) return;
  try {
    const accesses = await Promise.all(upstreams.map(readAccess));
    const keyless = upstreams.filter((_upstream, place) => accesses[place]?.keys.length === 0);
    if (keyless.length === 0) return;
    log.keysMissing(upstreamSecretId, secretHint(keyless, upstreams));
  } catch (error) {
    log.keysNotRead(upstreamSecretId, error);
  }
}

/** What counts requests: those of each caller, and those of all together. */
function createLimits(
  config: Config,
  { callDynamoDb, now, log }: Pick<GatewayDependencies, 'callDynamoDb' | 'now'> & { readonly log: Log },
) {
  const limits = { ...config, memberBudget: memberBudgetOf(config) };
  const wording = { appUrl: keysUrlOf(config), linksNetworks: waysToSignIn(config).includes('wallet') };
  const tallies = createTallies(callDynamoDb, config.quotaTable);
  const quota = createQuota({
    counters: createCounters(callDynamoDb, config.quotaTable, now),
    limits,
    ...wording,
    refundRefusals: config.refundRefusals,
    currency: config.currency,
    requestTimeout: config.requestTimeout,
    now,
    createToken,
    onLost: log.answerLost,
    onNearlySpent: log.budgetNearlySpent,
    onAbandoned: log.reservationsLost,
  });
  const { dailyLimit, guestDailyLimit, spendLimit } = config;
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
    translate: define('translate', work.translate, { bytesPerCharacter: bytesToTranslate }),
    rewriteWhole: define('rewriteWhole', work.rewriteWhole, { isLenient: true, bytesPerCharacter: bytesToTranslate }),
  };
}
