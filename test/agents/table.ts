import type { Result } from './play.ts';
import type { Scenario } from './scenarios.ts';

export const toRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The number of requests, and the time that they took if a person would notice. */
export function toCell({ breaks }: Scenario, { requests, charged, seconds, code, streamed }: Result): string {
  if (breaks && !streamed) return 'asks for no stream';
  const span = seconds >= 5 ? ` in ${Math.round(seconds)} s` : '';
  return `${requests} sent${span}, ${charged} charged${code === null ? ', still trying' : ''}`;
}
