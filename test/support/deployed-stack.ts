import { startTestDynamoDb, type TestDynamoDb } from './dynamodb.ts';
import { type FakeService, startFakeStack } from './fake-service.ts';
import { type Environment, runCommand } from './run-command.ts';

export interface DeployedStack {
  readonly dynamoDb: TestDynamoDb;
  readonly cloudFormation: FakeService;
  /** Credentials and endpoints. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs an operator's command against it, in this process. */
  run(
    name: Parameters<typeof runCommand>[0],
    words: readonly string[],
    more?: Environment,
    input?: string,
  ): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

const onStack = ['--stack', 'Gateway', '--region', 'eu-west-3'];

/** A stack as the operator's commands see it: through its outputs. The given ones are added. */
export async function startDeployedStack(outputs: Readonly<Record<string, string>> = {}): Promise<DeployedStack> {
  await using started = new AsyncDisposableStack();
  const dynamoDb = await startTestDynamoDb();
  started.defer(dynamoDb.close);
  const cloudFormation = started.use(
    await startFakeStack({
      GatewayUrl: 'https://abc.example/',
      KeysTable: dynamoDb.keysTable,
      QuotaTable: dynamoDb.quotaTable,
      NetworkSaltSecret: 'the-salt-secret',
      LogGroup: 'the-log-group',
      ServiceName: 'svc',
      MemberLimit: '50',
      Access: 'open',
      ...outputs,
    }),
  );
  const environment = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
  };
  const running = started.move();
  return {
    dynamoDb,
    cloudFormation,
    environment,
    run: (name, words, more, input) => runCommand(name, [...words, ...onStack], { ...environment, ...more }, input),
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}
