import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { CallService } from '../../lambda/aws/call-service.ts';
import type { ChargeResult, CounterWindow } from '../../lambda/quota/counters.ts';
import { createTimeLimit } from '../../lambda/store/time-limit.ts';

// The counters as they were when tokens still lived for minutes. Tables in use have their items, and during a rolling
// deployment they write beside today's. Frozen: only imports and comments were changed.

type Item = Readonly<Record<string, AttributeValue>>;
type Update = Readonly<Record<string, unknown>>;

export interface YesterdaysCounters {
  charge(window: CounterWindow, token: string): Promise<ChargeResult>;
  refund(item: string, minute: number, token: string): Promise<number | undefined>;
  read(item: string): Promise<number>;
}

function createTable(callDynamoDb: CallService, TableName: string) {
  const withinTimeLimit = createTimeLimit();
  const call = <Output extends object>(operation: string, pk: string, input: object) => {
    const all = { TableName, Key: { pk: { S: pk } }, ...input };
    return withinTimeLimit(({ abortSignal }) => callDynamoDb<Output>(operation, all, abortSignal));
  };
  return {
    load: async (key: string) => (await call<{ Item?: Item }>('GetItem', key, { ConsistentRead: true })).Item,
    update: async (key: string, update: Update) =>
      (await call<{ Attributes?: Item }>('UpdateItem', key, update)).Attributes,
  };
}

interface Refusal {
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException';

/*
 * One item per counter window, one conditional write per charge:
 *
 *   used     the charges that stand
 *   n<M>     the charges of minute M, refunded or not: the burst counter
 *   w<M>     the writes applied in minute M: a charge's token, a refund's token with a dash after it
 *
 * - A write whose answer was lost is repeated with the same minute and token. The repeat finds its token in w<M> and
 *   changes nothing. So w<M> must outlive a write's retries (2 s), not the request: a refund, which may come a quarter
 *   of an hour later, leaves its own token in the minute in which it is written, and the charge's holder refunds once.
 * - Minutes have different names, which are never reused. So a charge needs to know nothing about earlier ones, and an
 *   environment whose clock is behind counts in its own minute without disturbing the next.
 * - The first charge of a minute keeps that minute and the one before, and drops the `swept` ones before those. Each
 *   process knows only its own charges, so it may drop the same minutes again. A longer pause leaves more of them, which
 *   the charge's answer shows; once there are enough, a separate write removes them. Only the size of the item depends
 *   on that: two minutes of tokens, and at most `tolerated` old ones.
 */

const swept = 15;
const tolerated = 16;

const used = 'used';
const count = (minute: number) => `n${minute.toString(36)}`;
const writes = (minute: number) => `w${minute.toString(36)}`;
const ttl = 'ttl';

const number = (value: number): AttributeValue => ({ N: String(value) });
const numberIn = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);
const setIn = (item: Item | undefined, name: string): readonly string[] => item?.[name]?.SS ?? [];

/** Counters in the quota table, exact under any number of parallel charges and repeats. */
export function createYesterdaysCounters(callDynamoDb: CallService, tableName: string): YesterdaysCounters {
  const { load, update } = createTable(callDynamoDb, tableName);

  /** The item after the write, or the item on which its condition failed. */
  const updateIf = async (item: string, input: Update) => {
    try {
      const returned = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
      return { applied: true, found: await update(item, { ...returned, ...input }) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Not every engine returns the item.
      return { applied: false, found: (error.details.Item as Item | undefined) ?? (await load(item)) };
    }
  };

  const removeStale = async (item: string, minute: number, found: Item | undefined): Promise<void> => {
    const stale = Object.keys(found ?? {}).filter((name) => /^[nw]/.test(name) && minuteIn(name) < minute - 1);
    const tokens = stale.flatMap((name) => setIn(found, name));
    if (tokens.length <= tolerated) return;
    // If this fails, the next charge sees the same minutes again.
    await update(item, { UpdateExpression: `REMOVE ${stale.join(', ')}` }).catch(() => {});
  };

  const tidied = { minute: 0, items: new Set<string>() };
  /** Whether a charge drops old minutes: one charge for each counter and minute is enough. */
  const isFirst = (item: string, minute: number): boolean => {
    if (tidied.minute !== minute) {
      tidied.minute = minute;
      tidied.items.clear();
    }
    if (tidied.items.has(item)) return false;
    tidied.items.add(item);
    return true;
  };

  return {
    charge: async ({ item, limit, burst, minute, expiresAt }, token) => {
      const [counted, written] = [count(minute), writes(minute)];
      const { applied, found } = await updateIf(item, {
        UpdateExpression: [
          `ADD ${used} :one, ${counted} :one, ${written} :written`,
          ...(isFirst(item, minute) ? [`REMOVE ${sweep(minute)}`] : []),
          ...(expiresAt === undefined ? [] : ['SET #ttl = :ttl']),
        ].join(' '),
        ConditionExpression: [
          below(used, ':limit', limit),
          below(counted, ':burst', burst),
          `NOT contains(${written}, :token)`,
        ].join(' AND '),
        ...(expiresAt !== undefined && { ExpressionAttributeNames: { '#ttl': ttl } }),
        ExpressionAttributeValues: {
          ':one': number(1),
          ':written': { SS: [token] },
          ':token': { S: token },
          ':limit': number(limit),
          ':burst': number(burst),
          ...(expiresAt !== undefined && { ':ttl': number(Math.ceil(expiresAt / 1000)) }),
        },
      });
      const standing = numberIn(found, used);
      if (applied) await removeStale(item, minute, found);
      if (applied || setIn(found, written).includes(token)) return { granted: true, used: standing };
      // A minute's count never falls: if it is below the burst limit now, the quota was what refused, even if a refund
      // has made room since.
      const burstSpent = numberIn(found, counted) >= burst;
      return { granted: false, used: standing, reason: burstSpent && standing < limit ? 'burst' : 'quota' };
    },

    refund: async (item, minute, token) => {
      const mark = `${token}-`;
      const { applied, found } = await updateIf(item, {
        UpdateExpression: `ADD ${used} :minusOne, ${writes(minute)} :written`,
        ConditionExpression: `${used} > :zero AND NOT contains(${writes(minute)}, :mark)`,
        ExpressionAttributeValues: {
          ':minusOne': number(-1),
          ':zero': number(0),
          ':written': { SS: [mark] },
          ':mark': { S: mark },
        },
      });
      return applied || setIn(found, writes(minute)).includes(mark) ? numberIn(found, used) : undefined;
    },

    read: async (item) => numberIn(await load(item), used),
  };
}

/**
 * A missing counter is below every limit but zero: in DynamoDB a comparison with a missing attribute is false, and so is
 * `contains`, so its negation is true.
 */
function below(name: string, placeholder: string, limit: number): string {
  return limit > 0 ? `NOT ${name} >= ${placeholder}` : `${name} < ${placeholder}`;
}

function sweep(minute: number): string {
  const minutes = Array.from({ length: swept }, (_, index) => minute - 2 - index);
  return minutes.flatMap((old) => [count(old), writes(old)]).join(', ');
}

function minuteIn(name: string): number {
  return Number.parseInt(name.slice(1), 36);
}
