import { randomBytes } from 'node:crypto';
import { type HttpServerOptions, startHttpServer } from '../../lambda/engines/http-server.ts';
import { createGateway } from '../../lambda/gateway.ts';
import { issueKey, type KeyRequest } from '../../lambda/identity/issued-keys.ts';
import type { DoInThread } from '../../lambda/jobs/jobs.ts';
import { createLog, type OnFinished, type OnMeasured } from '../../lambda/report/log.ts';
import type { App } from '../../lambda/request/incoming-request.ts';
import { createRefuseFor, createWorkers } from '../../lambda/serve.ts';
import { type Config, readConfig } from '../../lambda/settings/config.ts';
import type { RunEvery } from '../../lambda/settings/refresh.ts';
import type { ReadToken } from '../../lambda/settings/secrets.ts';
import { readTables } from '../../lambda/settings/store-place.ts';
import { createKeyStore } from '../../lambda/store/admin/keys.ts';
import { createDynamoStore } from '../../lambda/store/dynamodb/store.ts';
import { createFunction, startFunctionUrl } from '../../local/function-url.ts';
import { installAwslambda } from '../../local/response-stream.ts';
import { now } from './clock.ts';
import { createTestCaller, startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';
import { type SpoilStore, startStoreProxy } from './store-proxy.ts';

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** The fake upstream's names, conspicuous so that a leak is noticed. */
export const identity = {
  UPSTREAM_TEXT_MODEL: 'acmecorp/thunder-70b-instruct',
  UPSTREAM_VISION_MODEL: 'acmecorp/thunder-eyes',
  UPSTREAM_NAMES: 'AcmeCorp,Thunder,acme,api.acmecorp.example',
};

/** Settings of a gateway with this upstream and these tables. */
export const settingsWith = (upstream: FakeUpstream, { keysTable, quotaTable }: TestDynamoDb) => ({
  ...identity,
  UPSTREAM_BASE_URL: upstream.url,
  UPSTREAM_API_KEYS: 'upstream-key-one',
  KEYS_TABLE: keysTable,
  QUOTA_TABLE: quotaTable,
  NETWORK_SALT: 'the salt of the tests',
});

interface GatewayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  /** Defaults to the engine of this test project: see jest.config.mjs. */
  readonly engine?: 'function-url' | 'web';
  /** How the HTTP server runs long jobs; by default in worker threads, as in production. */
  readonly doInThread?: DoInThread;
  /** Settings of the HTTP server, if that is the engine. */
  readonly server?: Partial<Pick<HttpServerOptions, 'bodyBudget' | 'clientAddress' | 'onLastMoment'>>;
  /** The function's timeout in milliseconds. */
  readonly functionTimeout?: number;
  /** Runs periodic work, as in a process that outlives its requests. */
  readonly runEvery?: RunEvery;
  readonly readSecret?: (id: string) => Promise<string>;
  readonly readToken?: ReadToken;
  readonly onFinished?: OnFinished;
  readonly onMeasured?: OnMeasured;
  /** Sees the gateway's requests to its tables, and can inject faults. */
  readonly spoilStore?: SpoilStore;
}

/** The real gateway in this process: emulated tables, a scripted upstream, real HTTP on both sides. */
export async function startTestGateway(options: GatewayOptions = {}) {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const store = options.spoilStore && started.use(await startStoreProxy(dynamoDb.endpoint, options.spoilStore));
  const environment = { ...settingsWith(upstream, dynamoDb), ...options.environment };
  const config = readConfig(environment);
  const engine = options.engine ?? Reflect.get(globalThis, 'testEngine') ?? 'function-url';
  const log: Record<string, unknown>[] = [];
  const faults: unknown[] = [];
  const gateway = createGateway(config, {
    store: createDynamoStore(
      store ? createTestCaller(store.endpoint) : dynamoDb.callDynamoDb,
      readTables(environment),
      options.now ?? now,
    ),
    readSecret: options.readSecret ?? (() => Promise.reject(new Error('no secrets here'))),
    readToken: options.readToken ?? (() => Promise.reject(new Error('no tokens here'))),
    log: createLog({
      write: (line) => log.push(JSON.parse(line)),
      onFinished: options.onFinished,
      onMeasured: options.onMeasured,
      now: options.now ?? now,
      metricsNamespace: config.log.metricsNamespace,
    }),
    now: options.now ?? now,
    ...(options.runEvery && { runEvery: options.runEvery }),
    doInThread: engine === 'web' ? (options.doInThread ?? createWorkers(config)) : undefined,
  });
  const server = await startEngine(gateway, config, (fault) => faults.push(fault), { ...options, engine });
  started.defer(() => server.close(0));
  const keys = createKeyStore(dynamoDb.documents, dynamoDb.keysTable);
  const running = started.move();
  return {
    url: server.url,
    upstream,
    dynamoDb,
    keys,
    /** Parsed log lines. */
    log: log as readonly Record<string, unknown>[],
    /** Errors that escaped the gateway: there must be none. */
    faults: faults as readonly unknown[],
    issueKey: async (request: Partial<KeyRequest> = {}) => {
      const issued = await issueKey(keys, { member: 'member', ...request }, { now, randomBytes });
      return issued.key;
    },
    /** A POST with a JSON body. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Stops the server as SIGTERM would, with this grace period for running requests. */
    stop: server.close,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Serves the gateway on a free port. */
async function startEngine(app: App, config: Config, onFault: (fault: unknown) => void, options: GatewayOptions) {
  const { engine, functionTimeout } = options;
  const address = { host: '127.0.0.1', port: 0 };
  const bodyLimit = config.request.requestBodyLimit;
  if (engine === 'web') {
    const { url, stop } = await startHttpServer({
      ...address,
      app,
      onFault,
      clientAddress: 'socket',
      requestBodyLimit: bodyLimit,
      bodyBudget: 268_435_456,
      refuse: createRefuseFor(config, options.now ?? now),
      ...(functionTimeout !== undefined && { timeLimit: functionTimeout }),
      ...options.server,
    });
    return { url, close: stop };
  }
  installAwslambda();
  return startFunctionUrl({
    ...address,
    handler: createFunction(app),
    bodyLimit,
    onFailure: onFault,
    ...(functionTimeout !== undefined && { functionTimeout }),
  });
}
