import type { CallService } from '../../aws/call-service.ts';
import { isConditionFailure, ServiceError, tooSlow } from '../../aws/repeat.ts';
import { outage } from '../errors.ts';
import type { TableSchema } from './schema.ts';

/** An attribute value in wire format. Bytes are base64. */
export interface Value {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly BS?: readonly string[];
}

export type Item = Readonly<Record<string, Value>>;

export const numberValue = (number: number): Value => ({ N: String(number) });

/** Converts epoch milliseconds to the epoch seconds of a TTL attribute. */
export const ttlValue = (expiresAt: number) => numberValue(Math.ceil(expiresAt / 1000));

/** The condition `name < limit`, where a missing counter counts as 0. DynamoDB evaluates comparisons with a missing attribute to false. */
export function below(name: string, placeholder: string, limit: number): string {
  return limit > 0 ? `NOT ${name} >= ${placeholder}` : `${name} < ${placeholder}`;
}

/** The input of UpdateItem without the table and the key. */
export interface Update {
  readonly UpdateExpression: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
  readonly ReturnValues?: 'ALL_NEW' | 'ALL_OLD';
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

export type Table = ReturnType<typeof createTable>;

export function createTable(callDynamoDb: CallService, schema: TableSchema, tableName: string) {
  const inTurn = createQueue();
  /** Addresses an item. */
  const address = (key: string) => ({ TableName: tableName, Key: { [schema.partitionKey.name]: { S: key } } });
  /** Queues a call. An outage becomes `service_unavailable`. */
  const call: CallService = (operation, input) => inTurn(() => callDynamoDb(operation, input));

  /** A consistent read. */
  const load = async (key: string): Promise<Item | undefined> =>
    (await call<{ readonly Item?: Item }>('GetItem', { ...address(key), ConsistentRead: true })).Item;

  return {
    load,
    /** The item that failed a write's condition, if it exists. Loaded for older DynamoDB emulators, which don't return it. */
    loadRefusing: async (key: string, { details }: ServiceError) => (details.Item as Item | undefined) ?? load(key),
    /** Returns what `ReturnValues` asks for. */
    async update(key: string, update: Update): Promise<Item | undefined> {
      return (await call<{ readonly Attributes?: Item }>('UpdateItem', { ...address(key), ...update })).Attributes;
    },
  };
}

/** Concurrent operations. */
const parallel = 32;

/**
 * Limits concurrency to `parallel`, so that a busy server doesn't mistake its own backlog for a slow store. A store that is down,
 * throttled, slow, missing or inaccessible becomes `service_unavailable`; other errors pass through.
 */
export function createQueue() {
  let running = 0;
  let answers = 0;
  /** A set is a queue whose first element can be removed in constant time. */
  const waiting = new Set<PromiseWithResolvers<void>>();

  return async <T>(operate: () => Promise<T>): Promise<T> => {
    if (running < parallel) running += 1;
    else {
      const turn = Promise.withResolvers<void>();
      waiting.add(turn);
      await turn.promise;
    }
    const before = answers;
    try {
      const answer = await operate();
      answers += 1;
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // No response to anything in that time: the store is down. Fail the whole queue, rather than let it time out one by one.
      if (error.name === tooSlow && answers === before) {
        for (const turn of waiting) turn.reject(outage(error, false));
        waiting.clear();
      }
      // A failed condition is for the caller to handle.
      const isLost = error.inDoubt && !isConditionFailure(error);
      if (isLost || error.isOutage) throw outage(error, isLost);
      answers += 1;
      throw error;
    } finally {
      const [turn] = waiting;
      if (turn) {
        waiting.delete(turn);
        turn.resolve();
      } else running -= 1;
    }
  };
}

/** Bytes per write unit. */
const unitBytes = 1024;

/** The write units for an item of this size: the larger of before and after the write. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / unitBytes));
}

/** An item's size as DynamoDB counts it, including attribute names. The size of sets is undocumented; here they count like lists. */
export function itemSize(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + name.length + valueSize(value), 0);
}

function valueSize({ S, N, BS }: Value): number {
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (BS !== undefined) return BS.reduce((size, element) => size + Buffer.byteLength(element, 'base64') + 1, 3);
  return Buffer.byteLength(S ?? '');
}
