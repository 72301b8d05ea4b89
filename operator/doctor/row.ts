/**
 * `note` is for what is as an operator may have wanted it, `untested` for what this run could not tell: it says how to
 * find out, and is never taken for a pass. Neither fails anything.
 */
export type Mark = 'ok' | 'fail' | 'note' | 'untested';

/** What was found out about one thing. */
export interface Finding {
  readonly mark: Mark;
  readonly detail: string;
}

export interface Row extends Finding {
  /** A dialect, or what concerns all of them. */
  readonly area: string;
  readonly check: string;
}

export const ok = (detail = ''): Finding => ({ mark: 'ok', detail });
export const fail = (detail: string): Finding => ({ mark: 'fail', detail });
export const note = (detail: string): Finding => ({ mark: 'note', detail });
export const untested = (reason: string): Finding => ({ mark: 'untested', detail: `not tested: ${reason}` });
