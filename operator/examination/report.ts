import type { Mark, Row } from './row.ts';

const signs: Readonly<Record<Mark, string>> = { ok: '✔', fail: '✘', note: '•', untested: '?' };

/** A row of the table; the columns are as wide as their longest text, so that each row can be printed as it comes. */
export function renderRow({ mark, area, check, detail }: Row): string {
  const plain = detail.replace(/\p{Cc}/gu, '?');
  return `${signs[mark]} ${area.padEnd(9)} ${check.padEnd(28)} ${plain}`.trimEnd();
}

export function renderSummary(rows: readonly Row[]): string {
  const count = (mark: Mark) => rows.filter((row) => row.mark === mark).length;
  const failed = count('fail');
  const more = (mark: Mark, what: string) => (count(mark) > 0 ? `, ${count(mark)} ${what}` : '');
  const rest = `${more('note', 'to note')}${more('untested', 'not tested')}`;
  return failed === 0
    ? `Healthy: ${count('ok')} checks passed${rest}.`
    : `${failed} of ${rows.length} checks failed${rest}.`;
}
