import { inspect } from 'node:util';
import { test } from '@jest/globals';

type Rule<Row extends readonly unknown[]> = (...row: [...Row]) => void | Promise<void>;

/** One test for a table of cases: runs the rule on every row, and reports all rows that fail. */
export function testRows<Row extends readonly unknown[] | [unknown]>(
  rows: readonly Row[],
): (name: string, rule: Rule<Row>) => void;
export function testRows<Row>(rows: readonly Row[]): (name: string, rule: Rule<[Row]>) => void;
export function testRows(rows: readonly unknown[]) {
  return (name: string, rule: Rule<unknown[]>) =>
    test(name, async () => {
      const failed: string[] = [];
      for (const row of rows) {
        const given = Array.isArray(row) ? row : [row];
        try {
          await rule(...given);
        } catch (error) {
          failed.push(`${inspect(given, { breakLength: 120 })}\n${error instanceof Error ? error.stack : error}`);
        }
      }
      if (failed.length > 0) throw new Error(`${failed.length} of ${rows.length} rows:\n${failed.join('\n\n')}`);
      if (rows.length === 0) throw new Error('a table without rows proves nothing');
    });
}
