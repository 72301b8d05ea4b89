import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startRuntimeApi } from './runtime-api.ts';

/** The files and the settings of a function. */
interface LambdaFunction {
  readonly folder: string;
  readonly handler: string;
  readonly memorySize: number;
  readonly timeoutMs: number;
}

const client = join(import.meta.dirname, 'runtime-client');

/** Runs a function as Lambda does: in its own process, with AWS's runtime client. */
export async function startLambdaRuntime(lambda: LambdaFunction, environment: Readonly<Record<string, string>>) {
  if (!existsSync(join(client, 'node_modules')))
    throw new Error(
      'run `node local/install-apart.ts local/runtime/runtime-client`: the runtime client is not installed',
    );
  const api = await startRuntimeApi(lambda.timeoutMs);
  const spawnedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...runtimeFlags(lambda),
      '--import',
      join(client, 'native-client.mjs'),
      join(client, 'node_modules/aws-lambda-ric/index.mjs'),
      lambda.handler,
    ],
    { cwd: lambda.folder, env: { ...lambdaEnvironment(lambda, api.address), ...environment } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'close').then(() => api.fail(new Error(`the runtime has ended: ${output}`)));

  return {
    /** Hands the function an event, as a Function URL would. */
    invoke: api.invoke,
    ready: api.ready,
    /** What the function has logged so far. */
    output: () => output,
    /** Of the process that runs the function. */
    pid: child.pid ?? 0,
    /** When that process was started, on the clock of `performance.now()`. */
    spawnedAt,
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGKILL');
      await ended;
      await api.close();
    },
  };
}

/** The flag that Lambda sets to keep the heap below the function's memory. */
function runtimeFlags({ memorySize }: LambdaFunction): string[] {
  return [
    `--max-old-space-size=${Math.floor(memorySize * 0.9)}`,
    `--max-semi-space-size=${Math.floor(memorySize * 0.05)}`,
  ];
}

/** The variables that Lambda sets for every function. */
function lambdaEnvironment({ folder, handler, memorySize }: LambdaFunction, runtimeApi: string) {
  return {
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true', // see native-client.mjs
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: folder,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
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
