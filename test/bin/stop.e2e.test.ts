import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createReadStop } from '../../lambda/store/stop-switch.ts';
import { startTestDynamoDb, type TestDynamoDb } from '../support/dynamodb.ts';
import { type FakeService, startFakeService } from '../support/fake-service.ts';

let dynamoDb: TestDynamoDb;
let cloudFormation: FakeService;

beforeAll(async () => {
  dynamoDb = await startTestDynamoDb();
  const outputs = {
    ...{ GatewayUrl: 'https://abc.example/', KeysTable: dynamoDb.keysTable, QuotaTable: dynamoDb.quotaTable },
    NetworkSaltSecret: 'the-salt-secret',
  };
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  cloudFormation = await startFakeService((response) =>
    response
      .setHeader('content-type', 'text/xml')
      .end(
        '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Gateway</StackName>' +
          `<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
      ),
  );
});
afterAll(async () => {
  await cloudFormation[Symbol.asyncDispose]();
  await dynamoDb.close();
});

/** What the script of that name in package.json runs, with its exit code. */
function run(script: 'stop' | 'resume', ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = {
    PATH: process.env.PATH,
    PORT: '18799',
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [`bin/${script}.ts`, ...args], { env }, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

const onStack = ['--stack', 'Gateway', '--region', 'eu-west-3'];
const readStop = () => createReadStop(dynamoDb.callDynamoDb, dynamoDb.keysTable)();

test('one command stops a stack, and tells the other, which lets it serve again', async () => {
  const stopped = await run('stop', ...onStack, '--reason', 'back at 14:00 UTC');
  expect(stopped).toMatchObject({ code: 0, err: '' });
  expect(stopped.out).toContain('npm run resume -- --stack Gateway --region eu-west-3');
  expect(await readStop()).toEqual({ at: expect.stringMatching(/^\d{4}-.*Z$/), reason: 'back at 14:00 UTC' });
  const resumed = await run('resume', ...onStack);
  expect(resumed).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Resumed') });
  expect(await readStop()).toBeUndefined();
  expect((await run('resume', ...onStack)).out).toBe('It was not stopped.\n');
});

test('for programs it prints JSON', async () => {
  const stopped = JSON.parse((await run('stop', ...onStack, '--json')).out);
  expect(stopped).toEqual(await readStop());
  expect(JSON.parse((await run('resume', ...onStack, '--json')).out)).toEqual({ stopped });
  expect(JSON.parse((await run('resume', ...onStack, '--json')).out)).toEqual({ stopped: null });
});

test('wrong usage and a gateway that is not there are told apart', async () => {
  expect(await run('stop', '--reason', '')).toMatchObject({ code: 2, err: expect.stringContaining('1 to 200') });
  expect(await run('stop')).toMatchObject({ code: 1, err: expect.stringContaining('no gateway is running') });
});
