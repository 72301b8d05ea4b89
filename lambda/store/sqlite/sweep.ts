import type { DatabaseSync } from 'node:sqlite';
import { minuteOf } from '../../budget/time.ts';

/** How many past minutes are kept, for processes whose clock is behind. */
const minutesKept = 5;

/** Tables with an expiry time, and their primary keys. Reservations and usage are deleted with their budget, by cascade. */
const expiring = [
  ...[
    ['requests', 'period, item'],
    ['budgets', 'item, period'],
    ['globalCounters', 'period'],
    ['links', 'network'],
  ],
  ...[
    ['challenges', 'nonce'],
    ['sessions', 'hash'],
    ['terminals', 'device'],
    ['userCodes', 'code'],
  ],
] as const;
/** Tables of which only recent minutes are needed. */
const ofMinutes = [
  ['bursts', 'minute, item'],
  ['tokens', 'minute, item, token'],
] as const;

/** Deletes expired rows, at most `most` from each table, so that requests don't wait for long. Returns whether that was all. */
export function createSweep(database: DatabaseSync) {
  const prepare = (table: string, key: string, condition: string) =>
    database.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ?)`);
  const expired = expiring.map(([table, key]) => prepare(table, key, 'expiresAt <= ?'));
  const past = ofMinutes.map(([table, key]) => prepare(table, key, 'minute < ?'));

  return (now: number, most: number): boolean => {
    const counts = [
      ...expired.map((statement) => statement.run(now, most).changes),
      ...past.map((statement) => statement.run(minuteOf(now) - minutesKept, most).changes),
    ];
    return counts.every((count) => Number(count) < most);
  };
}
