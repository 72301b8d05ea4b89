import type { CallService } from '../aws/call-service.ts';
import { type BudgetWindow, budgetPeriod, budgetWindows } from '../budget/budget-window.ts';
import type { Standing } from '../quota/counter-store.ts';
import { dayOf } from '../quota/policy.ts';
import { budgetOf, countOf, standingIn } from './counters.ts';
import { quotaSchema } from './schema.ts';
import { createTable, type Item, numberValue } from './table.ts';

interface CounterPage {
  /** How many items were looked at. */
  readonly scanned: number;
  readonly counters: readonly ScannedCounter[];
}

export interface ScannedCounter {
  readonly item: string;
  readonly ofDay: number;
  readonly ofLifetime: number;
  /** What is counted in the current period of each kind of budget. */
  readonly budgets: Readonly<Record<BudgetWindow, Omit<Standing, 'used'>>>;
}

/** Reads what is used at a time from the whole table, page by page; awaits `onPause` between two pages. */
export type ScanCounters = (now: number, onPause: () => Promise<void>) => AsyncGenerator<CounterPage>;

/** A page that a slow connection, too, brings within the time limit of a call. */
const mostAtOnce = 2_000;

/**
 * For operators only. An index by day would answer at once, but double the price of the one write of each request, while reading
 * a million counters costs a third of a cent.
 */
export function createScanCounters(callDynamoDb: CallService, tableName: string): ScanCounters {
  const { call } = createTable(callDynamoDb, quotaSchema, tableName);
  const name = quotaSchema.partitionKey.name;
  return async function* (now, onPause) {
    const [ofDay, ofLifetime] = [countOf(dayOf(now).period), countOf(undefined)];
    const periods = budgetWindows.map((window) => budgetPeriod(window, now).name);
    const wanted = [ofDay, ofLifetime, ...periods.map(budgetOf)];
    let position: Item | undefined;
    do {
      type Answer = { Items?: readonly Item[]; ScannedCount?: number; LastEvaluatedKey?: Item };
      const page: Answer = await call('Scan', {
        TableName: tableName,
        FilterExpression: wanted.map((count) => `${count} > :zero`).join(' OR '),
        ExpressionAttributeValues: { ':zero': numberValue(0) },
        ExclusiveStartKey: position,
        Limit: mostAtOnce,
      });
      const { Items = [], ScannedCount = 0, LastEvaluatedKey } = page;
      const counters = Items.map((attributes) => {
        const item = attributes[name]?.S ?? '';
        const standing = (window: BudgetWindow) =>
          standingIn(attributes, { item, budget: { period: budgetPeriod(window, now).name } });
        return {
          item,
          ofDay: Number(attributes[ofDay]?.N ?? 0),
          ofLifetime: Number(attributes[ofLifetime]?.N ?? 0),
          budgets: { day: standing('day'), week: standing('week'), month: standing('month') },
        };
      });
      yield { scanned: ScannedCount, counters };
      position = LastEvaluatedKey;
      if (position) await onPause();
    } while (position);
  };
}
