import { plainText } from '../../local/plain-text.ts';

/**
 * A `note` reports something that the operator may have intended. `untested` says what this run could not check, and how to check
 * it; it never counts as a pass. Neither is a failure.
 */
type Mark = 'ok' | 'fail' | 'note' | 'untested';

export interface Finding {
  readonly mark: Mark;
  readonly detail: string;
}

export type Checked = readonly [check: string, finding: Finding];

export interface Row extends Finding {
  /** A dialect, or a topic that concerns all of them. */
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

/** Shows each of the gateway's error messages once. A row that repeats one refers to the first. */
export function createFold(): (row: Row) => Row {
  const first = new Map<string, string>();
  return (row) => {
    const [, said] = /"message":\s*"((?:[^"\\]|\\.)+)"/.exec(row.detail) ?? [];
    // This sentence differs between endpoints.
    const message = said?.replace(/ This request was (not )?charged\./, '');
    if (row.mark !== 'fail' || message === undefined) return row;
    const known = first.get(message);
    if (known !== undefined) return { ...row, detail: `the same as ${known}` };
    first.set(message, `${row.area}: ${row.check}`);
    return row;
  };
}

/** A row of the table. Column widths are fixed, so that rows can be printed as they come. */
export function renderRow({ mark, area, check, detail }: Row): string {
  return `${signs[mark]} ${area.padEnd(10)} ${check.padEnd(27)} ${plainText(detail)}`.trimEnd();
}
