import { startFakeSecrets } from '../../local/fake-secrets.ts';
import { startLambdaRuntime } from '../../local/runtime/lambda-runtime.ts';
import { startTestDynamoDb } from './dynamodb.ts';
import type { SynthesizedFunction } from './synthesize.ts';

export type Artifact = Awaited<ReturnType<typeof startArtifact>>;

interface ArtifactOptions {
  readonly gateway: SynthesizedFunction;
  /** Overrides of the template's settings. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The upstream's secret; by default as empty as the stack leaves it. */
  readonly upstreamKeys?: string;
}

/** Runs the deployed files in AWS's own runtime client, with the template's settings, and its own tables and secrets. */
export async function startArtifact({ gateway, environment, upstreamKeys = '' }: ArtifactOptions) {
  await using started = new AsyncDisposableStack();
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const secrets = await startFakeSecrets({
    [gateway.environment.UPSTREAM_SECRET_ID ?? '']: JSON.stringify({ UPSTREAM_API_KEYS: upstreamKeys }),
    [gateway.environment.NETWORK_SALT_SECRET_ID ?? '']: 'a salt of at least sixteen characters',
  });
  started.defer(secrets.close);
  const runtime = started.use(
    await startLambdaRuntime(gateway, {
      ...gateway.environment,
      KEYS_TABLE: dynamoDb.keysTable,
      QUOTA_TABLE: dynamoDb.quotaTable,
      AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
      ...environment,
    }),
  );
  const running = started.move();
  return {
    invoke: runtime.invoke,
    output: runtime.output,
    dynamoDb,
    secrets,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
