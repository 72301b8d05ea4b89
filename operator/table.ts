import { plainText } from '../local/plain-text.ts';

/** A text table, each column as wide as its widest cell. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((line) => line.map(plainText));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))));
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - width(cell));
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

export const renderPairs = (pairs: Readonly<Record<string, string>>): string => {
  const widest = Math.max(...Object.keys(pairs).map(width));
  return Object.entries(pairs)
    .map(([name, value]) => `${name.padEnd(widest)}  ${plainText(value)}`.trimEnd())
    .join('\n');
};

/** As `2026-11-21 14:05 UTC`. */
export const showTime = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const isoTime = (time: number | undefined): string | null =>
  time === undefined ? null : new Date(time).toISOString();

/** `1 request`, `2 requests`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

const width = (cell: string): number => [...cell].length;
