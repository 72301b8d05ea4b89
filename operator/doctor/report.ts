import { plainText } from '../../local/plain-text.ts';

/**
 * A `note` is about something that the operator may have intended. `untested` marks what this run could not find out, and says
 * how to; it never counts as a pass. Neither is a failure.
 */
type Mark = 'ok' | 'fail' | 'note' | 'untested';

export interface Finding {
  readonly mark: Mark;
  readonly detail: string;
}

export type Checked = readonly [check: string, finding: Finding];

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

/** For people: says each fault of the gateway once. What repeats its message refers to the check that had it first. */
export function createFold(): (row: Row) => Row {
  const first = new Map<string, string>();
  return (row) => {
    const [, said] = /"message":\s*"((?:[^"\\]|\\.)+)"/.exec(row.detail) ?? [];
    // Whether it was charged differs between endpoints.
    const message = said?.replace(/ This request was (not )?charged\./, '');
    if (row.mark !== 'fail' || message === undefined) return row;
    const known = first.get(message);
    if (known !== undefined) return { ...row, detail: `the same as ${known}` };
    first.set(message, `${row.area}: ${row.check}`);
    return row;
  };
}

/** A row of the table; the columns are as wide as their longest text, so that each row can be printed as it comes. */
export function renderRow({ mark, area, check, detail }: Row): string {
  return `${signs[mark]} ${area.padEnd(10)} ${check.padEnd(27)} ${plainText(detail)}`.trimEnd();
}
