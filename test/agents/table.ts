import type { Result } from './play.ts';
import type { Scenario } from './scenarios.ts';

export const toRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The number of requests, how many were charged, and the time that they took if a person would notice. */
export function toCell({ breaks }: Scenario, { requests, charged, seconds, code, streamed }: Result): string {
  if (breaks && !streamed) return 'no stream';
  const span = seconds >= 5 ? ` in ${Math.round(seconds)} s` : '';
  return `${requests}/${charged}${span}${code === null ? ', still trying' : ''}`;
}
