import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { type FakeSecrets, startFakeSecrets } from './fake-secrets.ts';
import { type Answer, startRuntimeApi } from './runtime-api.ts';
import type { SynthesizedFunction } from './synthesize.ts';

export interface Artifact extends AsyncDisposable {
  /** Hands the function an event, as a Function URL would. */
  invoke(event: unknown): Promise<Answer>;
  readonly dynamoDb: TestDynamoDb;
  readonly secrets: FakeSecrets;
  /** What the function has logged so far. */
  output(): string;
}

interface ArtifactOptions {
  readonly gateway: SynthesizedFunction;
  /** Settings other than the template's. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The upstream's secret; without one it is as empty as the stack leaves it. */
  readonly upstreamKeys?: string;
}

const client = join(import.meta.dirname, 'runtime-client');

/** Runs the deployed files in AWS's own runtime client, with the template's settings, tables and secrets of its own. */
export async function startArtifact({ gateway, environment, upstreamKeys = '' }: ArtifactOptions): Promise<Artifact> {
  if (!existsSync(join(client, 'node_modules')))
    throw new Error('run `npm run test:e2e`: the runtime client is not installed');
  const dynamoDb = await startTestDynamoDb();
  const secrets = await startFakeSecrets({
    [gateway.environment.UPSTREAM_SECRET_ID ?? '']: JSON.stringify({ UPSTREAM_API_KEYS: upstreamKeys }),
    [gateway.environment.NETWORK_SALT_SECRET_ID ?? '']: 'a salt of at least sixteen characters',
  });
  const api = await startRuntimeApi(gateway.timeoutMs);
  const child = spawn(
    process.execPath,
    [
      ...runtimeFlags(gateway),
      '--import',
      join(client, 'native-client.mjs'),
      join(client, 'node_modules/aws-lambda-ric/index.mjs'),
      gateway.handler,
    ],
    {
      cwd: gateway.folder,
      env: {
        ...lambdaEnvironment(gateway, api.address),
        ...gateway.environment,
        KEYS_TABLE: dynamoDb.keysTable,
        QUOTA_TABLE: dynamoDb.quotaTable,
        AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
        ...environment,
      },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'close').then(() => api.fail(new Error(`the runtime has ended: ${output}`)));

  return {
    invoke: api.invoke,
    dynamoDb,
    secrets,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await Promise.all([api.close(), secrets.close(), dynamoDb.close()]);
    },
  };
}

/** Lambda's own: the heap is kept below the memory that is paid for. */
function runtimeFlags({ memorySize }: SynthesizedFunction): string[] {
  return [
    `--max-old-space-size=${Math.floor(memorySize * 0.9)}`,
    `--max-semi-space-size=${Math.floor(memorySize * 0.05)}`,
  ];
}

/** What Lambda tells every function. */
function lambdaEnvironment({ folder, handler, memorySize }: SynthesizedFunction, runtimeApi: string) {
  return {
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true', // see native-client.mjs
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: folder,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_FUNCTION_NAME: 'gateway',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memorySize),
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/gateway',
    AWS_LAMBDA_LOG_STREAM_NAME: 'test',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    TZ: ':UTC',
  };
}
