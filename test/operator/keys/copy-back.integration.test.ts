import { readFileSync } from 'node:fs';
import { BatchWriteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createKeyStore } from '../../../lambda/store/admin/keys.ts';
import { createStopSwitch } from '../../../lambda/store/admin/stop-switch.ts';
import { keysSchema, quotaSchema, toCreateTableInput } from '../../../lambda/store/dynamodb/schema.ts';
import { createMissingTables } from '../../../local/tables.ts';
import { type DeployedStack, startDeployedStack } from '../../support/deployed-stack.ts';
import { startStoreProxy } from '../../support/store-proxy.ts';

jest.setTimeout(30_000);

let stack: DeployedStack;
beforeAll(async () => {
  stack = await startDeployedStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const makeTable = async (name: string, schema: typeof keysSchema | typeof quotaSchema = keysSchema) => {
  await createMissingTables(stack.dynamoDb.client, [toCreateTableInput(schema, name)]);
  return name;
};
const put = (TableName: string, item: Record<string, object>) =>
  stack.dynamoDb.client.send(new PutItemCommand({ TableName, Item: item as never }));
const itemsOf = async (TableName: string) => (await stack.dynamoDb.client.send(new ScanCommand({ TableName }))).Items;

const day = 86_400_000;
const records = {
  revoked: { id: 'key_revoked', member: 'ada', createdAt: 1 },
  ended: { id: 'key_ended', member: 'ada', createdAt: 2 },
  lost: { id: 'key_lost', member: 'ada', createdAt: 3 },
  wrong: { id: 'key_wrong', member: 'ada', createdAt: 4 },
};

test.each([
  [[], 'mistaken', '6 read, 1 copied, 4 kept as they are'],
  [['--overwrite'], undefined, '6 read, 3 copied, 2 kept as they are'],
])('with %j what was revoked or ended since stays so, and no stop comes back', async (options, label, done) => {
  const { documents, keysTable } = stack.dynamoDb;
  const restored = await makeTable(`restored-${options.length}`);
  const [now, then] = [createKeyStore(documents, keysTable), createKeyStore(documents, restored)];
  // With the marker that keys were issued, and a stop, there are six items.
  for (const record of Object.values(records)) await then.put(record.id, record);
  await createStopSwitch(documents, restored).stop({ at: 'long ago' });
  await documents.send(new DeleteCommand({ TableName: keysTable, Key: { pk: 'key#key_lost' } }));
  await now.put('key_revoked', { ...records.revoked, revokedAt: 5 * day });
  await now.put('key_ended', { ...records.ended, expiresAt: 6 * day });
  await now.put('key_wrong', { ...records.wrong, label: 'mistaken' });

  // As the runbook has it.
  const runbook = readFileSync('docs/operations.md', 'utf8');
  expect(runbook).toContain('npm run copy-back -- --stack "$STACK" --from "$TABLE-restored"');
  for (const option of options) expect(runbook).toContain(`\`${option}\``);
  expect(await stack.run('copy-back', ['--from', restored, ...options])).toBe(`Done: ${done}.\n`);

  expect(await createStopSwitch(documents, keysTable).read()).toBeUndefined();
  const keys = await now.list();
  expect(keys.toSorted((a, b) => a.createdAt - b.createdAt)).toEqual([
    { ...records.revoked, revokedAt: 5 * day },
    { ...records.ended, expiresAt: 6 * day },
    records.lost,
    { ...records.wrong, ...(label && { label }) },
  ]);
});

test('every item is copied as it is, page by page; what fails in between goes on after the last page', async () => {
  const { quotaTable } = stack.dynamoDb;
  const restored = await makeTable('quota-restored', quotaSchema);
  const tokens = { BS: [Buffer.from([0xff, 0]), Buffer.from([1])] };
  const item = (index: number) => ({ pk: { S: `member#${index}` }, b: { N: '12345678901234567890' }, tokens });
  const items = Array.from({ length: 505 }, (_, index) => item(index));
  for (let start = 0; start < items.length; start += 25) {
    const requests = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await stack.dynamoDb.client.send(new BatchWriteItemCommand({ RequestItems: { [restored]: requests } }));
  }
  await put(quotaTable, { pk: { S: 'member#7' }, used: { N: '9' } });

  await using proxy = await startStoreProxy(stack.dynamoDb.endpoint);
  const through = { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint };
  const run = (...words: string[]) =>
    stack.run('copy-back', ['--from', restored, '--table', 'quota', ...words], through);
  proxy.spoil(({ name, body }) => (name === 'Scan' && body.includes('ExclusiveStartKey') ? 'failing' : undefined));
  const failure = await run().catch((error) => error);
  const [, last = ''] = /go on with --after '(member#\d+)'$/.exec(failure.message) ?? [];
  expect(last).not.toBe('');
  proxy.spoil(() => undefined);
  const said = await run('--after', last, '--json');
  expect(JSON.parse(said.split('\n').at(-2) ?? '')).toMatchObject({ from: restored, to: quotaTable, read: 5 });

  const found = new Map((await itemsOf(quotaTable))?.map((one) => [one.pk?.S, one]));
  expect(found.size).toBe(505);
  expect(found.get('member#7')).toEqual({ pk: { S: 'member#7' }, used: { N: '9' } });
  const { tokens: copied, ...rest } = found.get('member#8') ?? {};
  expect(rest).toEqual({ pk: { S: 'member#8' }, b: item(8).b });
  expect(copied?.BS?.map((bytes) => Buffer.from(bytes).toString('hex')).sort()).toEqual(['01', 'ff00']);
  expect(await run()).toMatch(/^500 read, 0 copied, 500 kept as they are; to go on from here: --after 'member#\d+'\n/);
});

test('what ends it is said as the store says it', async () => {
  const failure = await stack.run('copy-back', ['--from', 'not-there']).catch((error) => error.message);
  expect(failure).toMatch(/^ResourceNotFoundException: .*[^.]: run it again$/);
});
