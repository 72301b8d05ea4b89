import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  paginateQuery,
  paginateScan,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isConditionFailure } from '../../aws/repeat.ts';
import type { PlainItem } from '../dynamodb/read-item.ts';
import { keysSchema } from '../dynamodb/schema.ts';
import { type Documents, inTime, pagesInTime } from './documents.ts';

type Index = (typeof keysSchema.indexes)[number];

type Update = Omit<UpdateCommandInput, 'TableName' | 'Key'>;

/** Small enough for a slow connection to load a page within the timeout of a call. */
const pageSize = 1_000;

/** The items of the keys table. Undefined values are not stored. */
export function createItems(documents: Documents, TableName: string) {
  const addressOf = (key: string) => ({ TableName, Key: { [keysSchema.partitionKey.name]: key } });

  /** Returns the updated item, unless `ReturnValues` says otherwise; undefined if the condition failed. */
  const update = async (key: string, input: Update): Promise<PlainItem | undefined> => {
    const command = new UpdateCommand({ ...addressOf(key), ReturnValues: 'ALL_NEW', ...input });
    try {
      return (await inTime((abortSignal) => documents.send(command, { abortSignal }))).Attributes;
    } catch (error) {
      if (isConditionFailure(error)) return undefined;
      throw error;
    }
  };

  return {
    /** A consistent read. */
    async read(key: string): Promise<PlainItem | undefined> {
      const command = new GetCommand({ ...addressOf(key), ConsistentRead: true });
      return (await inTime((abortSignal) => documents.send(command, { abortSignal }))).Item;
    },

    /** `expiresAt`: epoch milliseconds, some time after which DynamoDB deletes the item. */
    async put(key: string, values: object, expiresAt?: number): Promise<void> {
      const ttl = expiresAt === undefined ? {} : { [keysSchema.ttlAttribute]: Math.ceil(expiresAt / 1000) };
      const { Key } = addressOf(key);
      const command = new PutCommand({ TableName, Item: { ...values, ...ttl, ...Key } });
      await inTime((abortSignal) => documents.send(command, { abortSignal }));
    },

    update,

    /** Whether the condition of the update held. */
    tryUpdate: async (key: string, input: Update): Promise<boolean> => (await update(key, input)) !== undefined,

    /** Returns the removed item. */
    async remove(key: string): Promise<PlainItem | undefined> {
      const command = new DeleteCommand({ ...addressOf(key), ReturnValues: 'ALL_OLD' });
      return (await inTime((abortSignal) => documents.send(command, { abortSignal }))).Attributes;
    },

    /** Reads all items with this value in an index, in descending order. */
    query: (index: Index, value: string): Promise<PlainItem[]> =>
      gather((abortSignal) =>
        paginateQuery(
          { client: documents, pageSize },
          {
            TableName,
            IndexName: index.name,
            ScanIndexForward: false,
            KeyConditionExpression: '#key = :key',
            ExpressionAttributeNames: { '#key': index.partitionKey.name },
            ExpressionAttributeValues: { ':key': value },
          },
          { abortSignal },
        ),
      ),

    /** Reads all items of an index. */
    scan: (index: Index): Promise<PlainItem[]> =>
      gather((abortSignal) =>
        paginateScan({ client: documents, pageSize }, { TableName, IndexName: index.name }, { abortSignal }),
      ),
  };
}

async function gather(
  open: (abortSignal: AbortSignal) => AsyncGenerator<{ Items?: PlainItem[] | undefined }>,
): Promise<PlainItem[]> {
  const found: PlainItem[] = [];
  for await (const { Items = [] } of pagesInTime(open)) found.push(...Items);
  return found;
}

/**
 * The condition for something that can be used once, before it expires: the attribute is not set yet. A retried write finds the
 * token that it has set itself.
 */
export const isFree = (name: string) => `expiresAt > :now AND (attribute_not_exists(${name}) OR ${name} = :token)`;
