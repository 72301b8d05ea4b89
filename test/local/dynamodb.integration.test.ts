import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtempDisposable, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import {
  type ConditionalCheckFailedException,
  type CreateTableCommandInput,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { createMissingTables, startDynamoDb } from '../../local/dynamodb.ts';
import { createTestClient } from '../support/dynamodb.ts';

const tables: CreateTableCommandInput[] = ['one', 'two'].map((name) => ({
  TableName: `table-${name}`,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
}));
const TableName = 'table-one';

/** A store with its tables and a client, for the duration of the given work. */
async function withStore<T>(
  dataDir: string | undefined,
  work: (client: DynamoDBClient, endpoint: string) => Promise<T>,
): Promise<T> {
  const store = await startDynamoDb({ dataDir });
  const client = createTestClient(store.endpoint);
  try {
    await createMissingTables(client, tables);
    return await work(client, store.endpoint);
  } finally {
    client.destroy();
    await store.close();
  }
}

const put = (client: DynamoDBClient, pk: string) =>
  client.send(new PutItemCommand({ TableName, Item: { pk: { S: pk } } }));
const get = async (client: DynamoDBClient, pk: string) =>
  (await client.send(new GetItemCommand({ TableName, Key: { pk: { S: pk } }, ConsistentRead: true }))).Item?.pk?.S;

/** Lists the tables as any program may that knows the protocol. */
async function listTables(origin: string, path: string, headers: Record<string, string> = {}, method = 'POST') {
  const signed = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=local/20300101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': '20300101T000000Z',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
  };
  const asking = request(origin, { path, method, headers: { ...signed, ...headers } });
  asking.end(method === 'POST' ? '{}' : undefined);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
  return { status: answer.statusCode, text: await readText(answer), cors };
}

describe('the embedded DynamoDB', () => {
  test("answers nobody who lacks its address's secret, no page, and no other host, and never with CORS headers", async () => {
    await withStore(undefined, async (client, endpoint) => {
      await put(client, 'kept');
      const { origin, pathname } = new URL(endpoint);
      const guesses = ['', '/', `/${'x'.repeat(43)}/`, pathname.slice(0, -2), `/x${pathname}`];
      const asked: [path: string, headers?: Record<string, string>, method?: string][] = [
        ...guesses.map((path): [string] => [path]),
        ['/', {}, 'GET'],
        [pathname, { origin: 'https://page.example' }],
        [pathname, { origin }],
        [pathname, { origin: 'null' }],
        [pathname, { origin: 'https://page.example', 'access-control-request-method': 'POST' }, 'OPTIONS'],
        [pathname, { host: `rebound.example:${new URL(endpoint).port}` }],
        [pathname, { host: '127.0.0.1.rebound.example' }],
      ];
      for (const [path, headers, method] of asked) {
        const refused = await listTables(origin, path, headers, method);
        expect({ path, ...refused }).toEqual({ path, status: 403, text: '', cors: [] });
      }
      const { status, text, cors } = await listTables(origin, pathname);
      expect([status, JSON.parse(text), cors]).toEqual([200, { TableNames: ['table-one', 'table-two'] }, []]);
      const other = createTestClient(origin);
      await expect(put(other, 'planted')).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
      other.destroy();
      expect(await get(client, 'planted')).toBeUndefined();
    });
  });

  test('lets nobody else into its directory: one that it makes, and one that was open to others, which it says', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-test-'));
    const [made, open] = [join(folder.path, 'made'), join(folder.path, 'open')];
    await mkdir(open);
    await chmod(open, 0o755);
    const told: (readonly string[])[] = [];
    for (const dataDir of [made, open, open]) {
      const store = await startDynamoDb({ dataDir });
      told.push(store.warnings);
      await store.close();
      for (const path of [dataDir, join(dataDir, 'dynamodb')]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    }
    expect(told).toEqual([[], [`DATA_DIR ${open} was open to other users of this machine, and no longer is`], []]);
  });

  test('creates missing tables and leaves the others as they are', async () => {
    await withStore(undefined, async (client) => {
      await put(client, 'kept');
      await createMissingTables(client, tables);
      expect(await get(client, 'kept')).toBe('kept');
      expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['table-one', 'table-two']);
    });
  });

  test('creates them once if two gateways start together', async () => {
    await withStore(undefined, async (client) => {
      const more = tables.map((table) => ({ ...table, TableName: `${table.TableName}-more` }));
      await Promise.all([createMissingTables(client, more), createMissingTables(client, more)]);
      expect((await client.send(new ListTablesCommand({}))).TableNames).toHaveLength(4);
    });
  });

  test('keeps its items across restarts in a directory, but not in memory', async () => {
    const pk = randomUUID();
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-test-'));
    const nested = join(folder.path, 'not', 'there', 'yet');
    await withStore(nested, (client) => put(client, pk));
    expect(await withStore(nested, (client) => get(client, pk))).toBe(pk);
    await withStore(undefined, (client) => put(client, pk));
    expect(await withStore(undefined, (client) => get(client, pk))).toBeUndefined();
  });

  test('says in one line that the path is not a directory, or where nobody can make one', async () => {
    for (const dataDir of [import.meta.filename, '/proc/nowhere']) {
      await expect(startDynamoDb({ dataDir })).rejects.toThrow(/^DATA_DIR .+ can't be used: .+$/);
    }
  });

  test('finishes the operations of clients that have left before it closes its tables', async () => {
    for (let time = 0; time < 4; time += 1) {
      const writes: Promise<unknown>[] = [];
      await withStore(undefined, async (client) => {
        for (let index = 0; index < 20; index += 1) {
          const values = { ExpressionAttributeValues: { ':one': { N: '1' } } };
          const update = { TableName, Key: { pk: { S: `${index}` } }, UpdateExpression: 'ADD n :one', ...values };
          writes.push(client.send(new UpdateItemCommand(update)));
        }
        await Promise.race(writes); // while the others are under way
      });
      await Promise.allSettled(writes);
    }
  });

  test('compares bytes, and returns the item that refused a write', async () => {
    await withStore(undefined, async (client) => {
      const Key = { pk: { S: 'bytes' } };
      const add = (...bytes: number[]) => {
        const token = Uint8Array.from(bytes);
        return client.send(
          new UpdateItemCommand({
            ...{ TableName, Key },
            UpdateExpression: 'ADD tokens :tokens',
            ConditionExpression: 'NOT contains(tokens, :token)',
            ExpressionAttributeValues: { ':token': { B: token }, ':tokens': { BS: [token] } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
      };
      await add(0xff, 1);
      await add(0xfe, 1); // no text either
      const refusal = await add(0xff, 1).catch((error: ConditionalCheckFailedException) => error);
      expect(refusal).toMatchObject({
        name: 'ConditionalCheckFailedException',
        Item: { ...Key, tokens: { BS: [Uint8Array.of(0xff, 1), Uint8Array.of(0xfe, 1)] } },
      });
    });
  });

  test('survives a client that leaves in the middle of its request', async () => {
    const store = await startDynamoDb();
    const { port, host, pathname } = new URL(store.endpoint);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10\r\n\r\nhalf`);
    // The next answer shows that the half request is being read.
    expect((await fetch(store.endpoint)).status).toBe(200);
    socket.resetAndDestroy();
    await once(socket, 'close');
    expect((await fetch(store.endpoint)).status).toBe(200);
    await store.close();
  });
});
