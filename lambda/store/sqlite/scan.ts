import type { DatabaseSync } from 'node:sqlite';
import { type BudgetWindow, budgetPeriod, budgetWindows } from '../../budget/budget-window.ts';
import { dayOf } from '../../budget/time.ts';
import { createReading, lifetime } from './counters.ts';

/** Reads the current usage of all callers, page by page: those whose item sorts after `last`. */
export function createScan(database: DatabaseSync) {
  const { stateOf } = createReading(database);
  const items = database.prepare(`
    SELECT item FROM requests WHERE period IN (?, ?) AND item > ? AND count > 0
    UNION SELECT item FROM budgets WHERE period IN (?, ?, ?) AND item > ? AND taken > 0
    ORDER BY item LIMIT ?`);

  return (now: number, last: string, most: number) => {
    const day = dayOf(now).period;
    const periods = budgetWindows.map((window) => budgetPeriod(window, now).name);
    return items.all(day, lifetime, last, ...periods, last, most).map((row) => {
      const item = String(row.item);
      const budgetOf = (window: BudgetWindow) => stateOf({ item, budget: { period: budgetPeriod(window, now).name } });
      return {
        item,
        usedToday: stateOf({ item, period: day }).used,
        usedInLifetime: stateOf({ item }).used,
        budgets: { day: budgetOf('day'), week: budgetOf('week'), month: budgetOf('month') },
      };
    });
  };
}
