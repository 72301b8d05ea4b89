import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { sendInTime } from '../aws/sdk-client.ts';
import { keysSchema } from './schema.ts';
import { createQueue } from './table.ts';

/** An item with plain values. */
export type Item = Readonly<Record<string, unknown>>;

export type Index = (typeof keysSchema.indexes)[number];

/** The part of a query or scan that selects the items. */
export type Page = Pick<
  ScanCommandInput,
  'Limit' | 'ExclusiveStartKey' | 'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

type Update = Omit<UpdateCommandInput, 'TableName' | 'Key'>;

const partitionKey = keysSchema.partitionKey.name;

/** The items of the keys table, for everything that does not happen on every request. */
export function createItems(client: DynamoDBDocumentClient, tableName: string) {
  const inTurn = createQueue();
  const send: DynamoDBDocumentClient['send'] = (command) =>
    inTurn(() => sendInTime((limit) => client.send(command, limit)));
  const at = (key: string) => ({ TableName: tableName, Key: { [partitionKey]: key } });

  return {
    /** Reads what was written last: a key or a link works on the first request after it was made. */
    async read(key: string): Promise<Item | undefined> {
      const command = new GetCommand({ ...at(key), ConsistentRead: true });
      return (await send(command)).Item;
    },

    /** DynamoDB deletes the item some time after it has expired. Times are epoch milliseconds. */
    async put(key: string, values: object, expiresAt?: number): Promise<void> {
      const ttl = expiresAt === undefined ? {} : { [keysSchema.ttlAttribute]: Math.ceil(expiresAt / 1000) };
      const command = new PutCommand({ TableName: tableName, Item: { ...values, [partitionKey]: key, ...ttl } });
      await send(command);
    },

    /** Returns what the update asks for. */
    async update(key: string, update: Update): Promise<Item | undefined> {
      const command = new UpdateCommand({ ...at(key), ...update });
      return (await send(command)).Attributes;
    },

    /** Returns the item that there was. */
    async remove(key: string): Promise<Item | undefined> {
      const command = new DeleteCommand({ ...at(key), ReturnValues: 'ALL_OLD' });
      return (await send(command)).Attributes;
    },

    /** Reads those with this value in an index, the last ones first. */
    query(index: Index, value: string, page: Page = {}) {
      const command = new QueryCommand({
        ...{ TableName: tableName, IndexName: index.name, ScanIndexForward: false },
        ...page,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': index.partitionKey.name, ...page.ExpressionAttributeNames },
        ExpressionAttributeValues: { ':key': value, ...page.ExpressionAttributeValues },
      });
      return send(command);
    },

    scan(index: Index, page: Page) {
      const command = new ScanCommand({ TableName: tableName, IndexName: index.name, ...page });
      return send(command);
    },
  };
}
