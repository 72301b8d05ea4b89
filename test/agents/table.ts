import type { Result } from './play.ts';
import type { Scenario } from './scenarios.ts';

/** One thing that is run, and what its cells are then. */
export interface Row {
  /** By which it is asked for. */
  readonly client: string;
  /** Its first cells. */
  readonly names: readonly string[];
  /** `faults`: what of it is not as it should be. */
  play(): Promise<{ readonly cells: readonly string[]; readonly faults: readonly string[] }>;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A table in Markdown. */
export function showTable({ title, columns }: Table, rows: readonly (readonly string[])[]): string {
  const head = toLine(columns);
  return [`${title}:`, '', head, head.replace(/[^|]+/g, '---'), ...rows.map(toLine), ''].join('\n');
}

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The number of requests, how many were charged, and the time that they took if a person would notice. */
export function toCell({ breaks }: Scenario, { requests, charged, seconds, code, streamed }: Result): string {
  if (breaks && !streamed) return 'no stream';
  const span = seconds >= 5 ? ` in ${Math.round(seconds)} s` : '';
  return `${requests}/${charged}${span}${code === null ? ', still trying' : ''}`;
}
