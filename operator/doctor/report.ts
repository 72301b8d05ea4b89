/**
 * A `note` is about something that the operator may have intended. `untested` marks what this run could not find out, and says
 * how to; it never counts as a pass. Neither is a failure.
 */
type Mark = 'ok' | 'fail' | 'note' | 'untested';

export interface Finding {
  readonly mark: Mark;
  readonly detail: string;
}

export interface Row extends Finding {
  /** A dialect, or a subject that concerns all of them. */
  readonly area: string;
  readonly check: string;
}

export const ok = (detail = ''): Finding => ({ mark: 'ok', detail });
export const fail = (detail: string): Finding => ({ mark: 'fail', detail });
/** For a check that finds one fault or none. */
export const okUnless = (fault: string | undefined, detail = ''): Finding =>
  fault === undefined ? ok(detail) : fail(fault);
export const note = (detail: string): Finding => ({ mark: 'note', detail });
export const untested = (reason: string): Finding => ({ mark: 'untested', detail: `not tested: ${reason}` });

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
