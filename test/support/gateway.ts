import { randomBytes } from 'node:crypto';
import { createHandler } from '../../lambda/engines/function-url.ts';
import { createGateway } from '../../lambda/gateway.ts';
import { issueKey, type KeyRequest } from '../../lambda/identity/issue-key.ts';
import { readConfig } from '../../lambda/settings/config.ts';
import type { CallService } from '../../lambda/store/call-service.ts';
import { createDocumentClient } from '../../lambda/store/client.ts';
import { createKeyStore, type KeyStore } from '../../lambda/store/keys.ts';
import { installAwslambda } from '../../local/awslambda.ts';
import { startFunctionUrl } from '../../local/function-url.ts';
import type { StreamingHandler } from '../../local/invoke-function.ts';
import { startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

export interface TestGateway {
  readonly url: string;
  readonly upstream: FakeUpstream;
  readonly dynamoDb: TestDynamoDb;
  readonly keys: KeyStore;
  /** The lines of the log, parsed. */
  readonly log: readonly Record<string, unknown>[];
  /** What the function threw past the gateway: nothing, ever. */
  readonly faults: readonly unknown[];
  issueKey(request?: Partial<KeyRequest>): Promise<string>;
  /** A POST with a JSON body. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the fake upstream is called in tests: loudly, so that a leak is seen. */
export const identity = {
  UPSTREAM_TEXT_MODEL: 'acmecorp/thunder-70b-instruct',
  UPSTREAM_VISION_MODEL: 'acmecorp/thunder-eyes',
  UPSTREAM_NAMES: 'AcmeCorp,Thunder,acme,api.acmecorp.example',
};

interface GatewayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  /** How long the function may take in all, in milliseconds. */
  readonly functionTimeout?: number;
  readonly readSecret?: (id: string) => Promise<string>;
  /** The gateway's own way to its tables, where something stands between. */
  readonly reachStore?: (endpoint: string) => Promise<CallService>;
}

/** The real gateway inside this process: real tables, a real upstream of the test's own, real HTTP on both sides. */
export async function startTestGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startFakeUpstream());
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const config = readConfig({
    ...identity,
    UPSTREAM_BASE_URL: upstream.url,
    UPSTREAM_API_KEYS: 'upstream-key-one',
    KEYS_TABLE: dynamoDb.keysTable,
    QUOTA_TABLE: dynamoDb.quotaTable,
    NETWORK_SALT: 'the salt of the tests',
    ...options.environment,
  });
  const log: Record<string, unknown>[] = [];
  const faults: unknown[] = [];
  const gateway = createGateway(config, {
    callDynamoDb: (await options.reachStore?.(dynamoDb.endpoint)) ?? dynamoDb.callDynamoDb,
    readSecret: options.readSecret ?? (() => Promise.reject(new Error('no secrets here'))),
    writeLog: (line) => log.push(JSON.parse(line)),
    now: options.now ?? Date.now,
  });
  installAwslambda();
  const handler: unknown = createHandler(gateway);
  const server = await startFunctionUrl({
    handler: handler as StreamingHandler,
    host: '127.0.0.1',
    port: 0,
    bodyLimit: config.requestBodyLimit,
    ...(options.functionTimeout !== undefined && { functionTimeout: options.functionTimeout }),
    onFailure: (fault) => faults.push(fault),
  });
  started.defer(() => server.close(0));
  const keys = createKeyStore(createDocumentClient(dynamoDb.client), dynamoDb.keysTable);
  const running = started.move();
  return {
    url: server.url,
    upstream,
    dynamoDb,
    keys,
    log,
    faults,
    issueKey: async (request = {}) => {
      const issued = await issueKey(keys, { member: 'member', ...request }, { now: Date.now, randomBytes });
      return issued.key;
    },
    post: (path, body, headers = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
