import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createKeyStore } from '../../lambda/stores/keys.ts';
import { createStopSwitch } from '../../lambda/stores/stop-switch.ts';
import { keysSchema, toCreateTableInput } from '../../lambda/tables/schema.ts';
import { createMissingTables } from '../../local/dynamodb.ts';
import { type DeployedStack, startDeployedStack } from '../support/deployed-stack.ts';
import { runNode, runProcess } from '../support/run-command.ts';

// Each command is a whole process, of which a busy machine starts one a second or two.
jest.setTimeout(120_000);

let stack: DeployedStack;
beforeAll(async () => {
  stack = await startDeployedStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const run = (script: 'stop' | 'resume', ...words: string[]) => stack.run(script, words);
const readStop = () => createStopSwitch(stack.dynamoDb.documents, stack.dynamoDb.keysTable).read();

test('one command stops a stack, and prints the other, which lets it serve again', async () => {
  expect(await run('stop', '--reason', 'back at 14:00 UTC')).toContain(
    'npm run resume -- --stack Gateway --region eu-west-3',
  );
  expect(await readStop()).toEqual({ at: expect.stringMatching(/^\d{4}-.*Z$/), reason: 'back at 14:00 UTC' });
  expect(await run('resume')).toContain('Resumed');
  expect(await readStop()).toBeUndefined();
  expect(await run('resume')).toBe('It was not stopped.\n');
});

test('a second stop keeps the reason and time of the first beside its own, or what callers are told, and resuming tells all', async () => {
  const first = JSON.parse(await run('stop', '--reason', 'somebody floods us', '--json'));
  expect(await run('stop', '--reason', 'back at 14:00 UTC')).toContain(
    `It was stopped already at ${first.at} (somebody floods us). `,
  );
  const stop = await readStop();
  expect(stop).toEqual({ at: expect.any(String), reason: 'back at 14:00 UTC', earlier: [first] });
  expect(await run('stop')).toContain(' Callers are told: back at 14:00 UTC\n');
  const third = await readStop();
  expect(third).toMatchObject({ reason: stop?.reason, earlier: [first, { at: stop?.at, reason: stop?.reason }] });
  expect(await run('resume')).toBe(
    'Resumed: within 60 seconds it serves everywhere. It was stopped ' +
      `at ${first.at} (somebody floods us), then at ${stop?.at} (back at 14:00 UTC), then at ${third?.at} (back at 14:00 UTC).\n`,
  );
  expect(await readStop()).toBeUndefined();
});

test('--json prints JSON', async () => {
  const stopped = JSON.parse(await run('stop', '--json'));
  expect(stopped).toEqual(await readStop());
  expect(JSON.parse(await run('resume', '--json'))).toEqual({ stopped });
  expect(JSON.parse(await run('resume', '--json'))).toEqual({ stopped: null });
});

test('wrong usage and a missing gateway are distinguished', async () => {
  const environment = { PORT: '18799' };
  const wrong = await runNode('bin/stop.ts', ['--reason', ''], environment);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('1 to 200') });
  const missing = await runNode('bin/resume.ts', [], environment);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('no gateway is running') });
});

describe('copying back from a restored table, as the runbook does it', () => {
  const day = 86_400_000;
  const records = {
    revoked: { id: 'key_revoked', member: 'ada', createdAt: 1 },
    ended: { id: 'key_ended', member: 'ada', createdAt: 2 },
    lost: { id: 'key_lost', member: 'ada', createdAt: 3 },
    wrong: { id: 'key_wrong', member: 'ada', createdAt: 4 },
  };

  /** The commands that the runbook uses of AWS's CLI, on the embedded tables. */
  const aws = `
    const [, operation, ...words] = process.argv.slice(1);
    const option = (name) => words[words.indexOf(name) + 1];
    const call = async (name, input) => {
      const headers = { 'x-amz-target': 'DynamoDB_20120810.' + name, 'content-type': 'application/x-amz-json-1.0' };
      headers.authorization = 'AWS4-HMAC-SHA256 Credential=test/20261121/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0';
      headers['x-amz-date'] = '20261121T100000Z';
      const body = JSON.stringify({ TableName: option('--table-name'), ...input });
      const response = await fetch(process.env.AWS_ENDPOINT_URL_DYNAMODB, { method: 'POST', headers, body });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return JSON.parse(text);
    };
    if (operation === 'scan') console.log(JSON.stringify({ Items: (await call('Scan', {})).Items }));
    else if (operation !== 'put-item') throw new Error(operation + ' is not here');
    else {
      const ConditionExpression = option('--condition-expression');
      await call('PutItem', { Item: JSON.parse(option('--item')), ConditionExpression });
    }`;

  test.each([
    ['MISSING', 'mistaken'],
    ['WRONG', undefined],
  ])('with $%s keeps what was revoked or ended since, and brings no stop back', async (condition, label) => {
    const { client, documents } = stack.dynamoDb;
    const [keysTable, restored] = [`keys-${condition}`, `keys-${condition}-restored`];
    const tables = [keysTable, restored].map((table) => toCreateTableInput(keysSchema, table));
    await createMissingTables(client, tables);
    const [now, then] = [createKeyStore(documents, keysTable), createKeyStore(documents, restored)];
    for (const record of Object.values(records)) await then.put(record.id, record);
    await createStopSwitch(documents, restored).stop({ at: 'long ago' });
    await now.put('key_revoked', { ...records.revoked, revokedAt: 5 * day });
    await now.put('key_ended', { ...records.ended, expiresAt: 6 * day });
    await now.put('key_wrong', { ...records.wrong, label: 'mistaken' });

    const [, section = ''] =
      /^## Restoring tables\n([\s\S]+?)^## /m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const [, block = ''] = /```bash\n(MISSING=[^`]+)copy_back "\$MISSING"\n```/.exec(section) ?? [];
    expect(section).toContain(`copy_back "$${condition}"`);
    const standIn = 'aws() { "$NODE" --input-type=module -e "$AWS" -- "$@"; }';
    const script = `${standIn}\n${block}\ncopy_back "$${condition}"`;
    const env = { ...stack.environment, AWS_REGION: 'local', NODE: process.execPath, AWS: aws, TABLE: keysTable };
    const { err } = await runProcess('bash', ['--noprofile', '--norc', '-c', script], env);

    expect(err).toContain('ConditionalCheckFailedException');
    expect(await createStopSwitch(documents, keysTable).read()).toBeUndefined();
    const keys = await now.list();
    expect(keys.toSorted((a, b) => a.createdAt - b.createdAt)).toEqual([
      { ...records.revoked, revokedAt: 5 * day },
      { ...records.ended, expiresAt: 6 * day },
      records.lost,
      { ...records.wrong, ...(label && { label }) },
    ]);
  });
});
