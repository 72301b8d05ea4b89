import type { DatabaseSync } from 'node:sqlite';
import type { Day } from '../../budget/time.ts';
import type { GlobalCounts } from '../counters.ts';

const nothing: GlobalCounts = { requests: 0, guests: 0, spent: 0 };

/** Usage of the whole deployment, per day. */
export function createGlobalCounters(database: DatabaseSync) {
  const find = database.prepare('SELECT requests, guests, spent FROM globalCounters WHERE period = ?');
  const write = database.prepare(`
    INSERT INTO globalCounters (period, requests, guests, spent, expiresAt) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = excluded.requests, guests = excluded.guests, spent = excluded.spent`);
  const countsOf = (period: number) => ({ ...nothing, ...find.get(period) }) as GlobalCounts;

  return {
    add(
      { period, expiresAt }: Pick<Day, 'period' | 'expiresAt'>,
      amounts: Partial<GlobalCounts>,
      most: Partial<GlobalCounts> = {},
    ) {
      const found = countsOf(period);
      const names = ['requests', 'guests', 'spent'] as const;
      if (names.some((name) => found[name] >= (most[name] ?? Number.POSITIVE_INFINITY))) {
        return { added: false, counts: found };
      }
      const [requests, guests, spent] = names.map((name) => found[name] + (amounts[name] ?? 0)) as [
        number,
        number,
        number,
      ];
      write.run(period, requests, guests, spent, expiresAt);
      return { added: true, counts: { requests, guests, spent } };
    },
    read: countsOf,
  };
}
