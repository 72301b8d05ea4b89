import type { CallService } from '../../aws/call-service.ts';
import { isConditionFailure, ServiceError, tooSlow } from '../../aws/repeat.ts';
import { GatewayError } from '../../errors.ts';
import { lostAnswer } from '../counters.ts';
import type { TableSchema } from './schema.ts';

/** A value of a counter in wire form, under its type; bytes are in base64. */
export interface Value {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly BS?: readonly string[];
}

export type Item = Readonly<Record<string, Value>>;

export const numberValue = (number: number): Value => ({ N: String(number) });

/** Epoch milliseconds as the attribute for expiry takes them. */
export const ttlValue = (expiresAt: number) => numberValue(Math.ceil(expiresAt / 1000));

/**
 * A missing counter must count as zero. DynamoDB takes a comparison with a missing attribute as false, so its negation is true.
 */
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
  /** The table and the key of an item. */
  const address = (key: string) => ({ TableName: tableName, Key: { [schema.partitionKey.name]: { S: key } } });
  /** Calls an operation in turn; an outage becomes `service_unavailable`. */
  const call: CallService = (operation, input) => inTurn(() => callDynamoDb(operation, input));

  /** Reads what was written last, even if that was a moment ago. */
  const load = async (key: string): Promise<Item | undefined> =>
    (await call<{ readonly Item?: Item }>('GetItem', { ...address(key), ConsistentRead: true })).Item;

  return {
    load,
    /** The item that refused a write; undefined if there is none. Stores older than this part of a refusal are asked for it. */
    loadRefusing: async (key: string, { details }: ServiceError) => (details.Item as Item | undefined) ?? load(key),
    /** Returns what the update asks for. */
    async update(key: string, update: Update): Promise<Item | undefined> {
      return (await call<{ readonly Attributes?: Item }>('UpdateItem', { ...address(key), ...update })).Attributes;
    },
  };
}

/** How many operations run at once. */
const parallel = 32;

/**
 * Runs operations, `parallel` of them at once, so that a busy server does not mistake its own queue for a slow store. A store
 * that is down, throttled, slow or not there, or that does not let the gateway in, becomes `service_unavailable`; other errors pass.
 */
export function createQueue() {
  let running = 0;
  let answers = 0;
  /** A set keeps the order too, and gives up its first without walking the others. */
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
      // If nothing was answered in that time, the store is down, and nobody shall wait for one time limit after another.
      if (error.name === tooSlow && answers === before) {
        for (const turn of waiting) turn.reject(outage(error, false));
        waiting.clear();
      }
      // Whoever sets a condition looks into its refusal.
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

const unreachable = 'The gateway cannot reach its own store right now. Please try again in a moment.';

/** The error for the client. If an answer was lost, the operation may have been carried out. The log shows what was behind it. */
export function outage(error: unknown, answerLost: boolean): GatewayError {
  const cause = error instanceof GatewayError ? error.cause : error;
  const reason = answerLost ? lostAnswer : undefined;
  return new GatewayError('service_unavailable', unreachable, { source: 'store', reason, cause });
}

/** The bytes that one write unit covers. */
const unitBytes = 1024;

/** The units of a write to an item of this many bytes, before or after it. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / unitBytes));
}

/** The bytes of an item, its names included, as DynamoDB counts them. It does not document sets: they count like lists here. */
export function itemSize(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + name.length + valueSize(value), 0);
}

function valueSize({ S, N, BS }: Value): number {
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (BS !== undefined) return BS.reduce((size, element) => size + Buffer.byteLength(element, 'base64') + 1, 3);
  return Buffer.byteLength(S ?? '');
}
