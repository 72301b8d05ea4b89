import { once } from 'node:events';
import { connect } from 'node:net';
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
import { startDynamoDb } from '../../bench/world/emulator.ts';
import { createMissingTables } from '../../local/tables.ts';
import { createTestClient } from '../support/dynamodb.ts';

const tables: CreateTableCommandInput[] = ['one', 'two'].map((name) => ({
  TableName: `table-${name}`,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
}));
const TableName = 'table-one';

/** A store with its tables and a client, for the duration of the given work. */
async function withStore<T>(work: (client: DynamoDBClient) => Promise<T>): Promise<T> {
  const store = await startDynamoDb();
  const client = createTestClient(store.endpoint);
  try {
    await createMissingTables(client, tables);
    return await work(client);
  } finally {
    client.destroy();
    await store.close();
  }
}

const put = (client: DynamoDBClient, pk: string) =>
  client.send(new PutItemCommand({ TableName, Item: { pk: { S: pk } } }));
const get = async (client: DynamoDBClient, pk: string) =>
  (await client.send(new GetItemCommand({ TableName, Key: { pk: { S: pk } }, ConsistentRead: true }))).Item?.pk?.S;

describe('the emulated DynamoDB', () => {
  test('creates missing tables and leaves the others as they are', async () => {
    await withStore(async (client) => {
      await put(client, 'kept');
      await createMissingTables(client, tables);
      expect(await get(client, 'kept')).toBe('kept');
      expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['table-one', 'table-two']);
    });
  });

  test('creates them once if two gateways start together', async () => {
    await withStore(async (client) => {
      const more = tables.map((table) => ({ ...table, TableName: `${table.TableName}-more` }));
      await Promise.all([createMissingTables(client, more), createMissingTables(client, more)]);
      expect((await client.send(new ListTablesCommand({}))).TableNames).toHaveLength(4);
    });
  });

  test('finishes the operations of clients that have left before it closes its tables', async () => {
    for (let time = 0; time < 4; time += 1) {
      const writes: Promise<unknown>[] = [];
      await withStore(async (client) => {
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
    await withStore(async (client) => {
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
