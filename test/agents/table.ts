import type { Result } from './scenarios.ts';

export const toRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** `2 sent, 2 charged`: how many requests it took, and how long where a person would notice. */
export function toCell({ requests, charged, seconds, code }: Result): string {
  const counts = `${requests} sent, ${charged} charged`;
  if (code === null) return `${counts}, still trying after ${Math.round(seconds)} s`;
  return seconds >= 20 ? `${counts}, ${Math.round(seconds)} s` : counts;
}
