import { randomBytes } from 'node:crypto';
import type { CallService } from '../../lambda/aws/call-service.ts';
import { createGateway } from '../../lambda/gateway.ts';
import { issueKey, type KeyRequest } from '../../lambda/identity/keys.ts';
import { readConfig } from '../../lambda/settings/config.ts';
import type { RunEvery } from '../../lambda/settings/refresh.ts';
import { createKeyStore } from '../../lambda/tables/keys.ts';
import { startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { type ServerOptions, startTestEngine, type TestEngine } from './engine.ts';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** The names of the fake upstream, conspicuous so that a leak is noticed. */
export const identity = {
  UPSTREAM_TEXT_MODEL: 'acmecorp/thunder-70b-instruct',
  UPSTREAM_VISION_MODEL: 'acmecorp/thunder-eyes',
  UPSTREAM_NAMES: 'AcmeCorp,Thunder,acme,api.acmecorp.example',
};

/** The settings of a gateway with this upstream and these tables. */
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
  readonly engine?: TestEngine;
  /** Settings of the HTTP server, if that is the engine. */
  readonly server?: ServerOptions;
  /** How long the function may take in all, in milliseconds. */
  readonly functionTimeout?: number;
  /** As in a process that lives between requests. */
  readonly runEvery?: RunEvery;
  readonly readSecret?: (id: string) => Promise<string>;
  /** The gateway's own access to its tables, if a proxy stands in between. */
  readonly reachStore?: (endpoint: string) => Promise<CallService>;
}

/** The real gateway in this process: emulated tables, a scripted upstream, real HTTP on both sides. */
export async function startTestGateway(options: GatewayOptions = {}) {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const config = readConfig({ ...settingsWith(upstream, dynamoDb), ...options.environment });
  const log: Record<string, unknown>[] = [];
  const faults: unknown[] = [];
  const gateway = createGateway(config, {
    callDynamoDb: (await options.reachStore?.(dynamoDb.endpoint)) ?? dynamoDb.callDynamoDb,
    readSecret: options.readSecret ?? (() => Promise.reject(new Error('no secrets here'))),
    writeLog: (line) => log.push(JSON.parse(line)),
    now: options.now ?? Date.now,
    ...(options.runEvery && { runEvery: options.runEvery }),
  });
  const server = await startTestEngine(gateway, {
    engine: options.engine,
    server: options.server,
    bodyLimit: config.requestBodyLimit,
    timeLimit: options.functionTimeout,
    onFault: (fault) => faults.push(fault),
  });
  started.defer(() => server.close(0));
  const keys = createKeyStore(dynamoDb.callDynamoDb, dynamoDb.keysTable);
  const running = started.move();
  return {
    url: server.url,
    upstream,
    dynamoDb,
    keys,
    /** The lines, parsed. */
    log: log as readonly Record<string, unknown>[],
    /** Errors that escaped the gateway: there must be none. */
    faults: faults as readonly unknown[],
    issueKey: async (request: Partial<KeyRequest> = {}) => {
      const issued = await issueKey(keys, { member: 'member', ...request }, { now: Date.now, randomBytes });
      return issued.key;
    },
    /** A POST with a JSON body. */
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Stops the server as SIGTERM would, with this much grace for running answers. */
    stop: server.close,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
