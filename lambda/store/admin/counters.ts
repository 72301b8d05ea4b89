import { GetCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isConditionFailure } from '../../aws/repeat.ts';
import { type BudgetWindow, budgetPeriod, budgetWindows } from '../../budget/budget-window.ts';
import { dayOf } from '../../budget/time.ts';
import type { CountedPeriod, CounterState, ScannedCounter } from '../counters.ts';
import { budgetOf, countOf, readState } from '../dynamodb/counter-state.ts';
import { usesIn } from '../dynamodb/model-use.ts';
import { type PlainItem, toPlain } from '../dynamodb/read-item.ts';
import { settlementOf } from '../dynamodb/reservation.ts';
import { quotaSchema } from '../dynamodb/schema.ts';
import { tooLarge } from '../errors.ts';
import type { AdminCounters } from '../store.ts';
import { type Documents, inTime, pagesInTime } from './documents.ts';

/** Small enough for a slow connection to load a page within the timeout of a call. */
const pageSize = 2_000;

const partitionKey = quotaSchema.partitionKey.name;

export function createAdminCounters(documents: Documents, TableName: string): AdminCounters {
  const addressOf = (item: string) => ({ TableName, Key: { [partitionKey]: item } });

  const load = async (item: string): Promise<PlainItem | undefined> => {
    const command = new GetCommand({ ...addressOf(item), ConsistentRead: true });
    return (await inTime((abortSignal) => documents.send(command, { abortSignal }))).Item;
  };

  return {
    async read(counted) {
      const found = await load(counted.item);
      return { ...stateIn(found, counted), uses: usesIn(found, counted.budget?.period, (value) => value) };
    },

    async settle(counted, reservation, settlement) {
      const { ExpressionAttributeValues: values, ...update } = settlementOf(counted, reservation, settlement);
      const command = new UpdateCommand({
        ...addressOf(counted.item),
        ...update,
        ExpressionAttributeValues: toPlain(values),
      });
      try {
        const { Attributes } = await inTime((abortSignal) => documents.send(command, { abortSignal }));
        return stateIn(Attributes, counted);
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const found = await load(counted.item);
        if (found?.[reservation.name] !== undefined) throw tooLarge();
        // If an earlier response was lost, that attempt has been applied.
        return error.inDoubt ? stateIn(found, counted) : undefined;
      }
    },

    /** A scan. An index by day would be faster, but double the price of each request's write. A million counters cost a third of a cent. */
    async *scan(now, onPause) {
      const periods = budgetWindows.map((window) => budgetPeriod(window, now).name);
      const wanted = [countOf(dayOf(now).period), countOf(undefined), ...periods.map(budgetOf)];
      const input = {
        TableName,
        FilterExpression: wanted.map((count) => `${count} > :zero`).join(' OR '),
        ExpressionAttributeValues: { ':zero': 0 },
      };
      const pages = pagesInTime((abortSignal) => paginateScan({ client: documents, pageSize }, input, { abortSignal }));
      for await (const { Items = [], ScannedCount = 0, LastEvaluatedKey } of pages) {
        yield { scanned: ScannedCount, counters: Items.map((item) => toCounter(item, now)) };
        if (LastEvaluatedKey) await onPause();
      }
    },
  };
}

const stateIn = (found: PlainItem | undefined, counted: CountedPeriod): CounterState =>
  readState(found, counted, (value) => value);

function toCounter(found: PlainItem, now: number): ScannedCounter {
  const item = String(found[partitionKey]);
  const state = (window: BudgetWindow) => stateIn(found, { item, budget: { period: budgetPeriod(window, now).name } });
  return {
    item,
    usedToday: stateIn(found, { item, period: dayOf(now).period }).used,
    usedInLifetime: stateIn(found, { item }).used,
    budgets: { day: state('day'), week: state('week'), month: state('month') },
  };
}
