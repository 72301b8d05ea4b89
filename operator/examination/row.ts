/**
 * A `note` is about something that the operator may have intended. `untested` marks what this run could not find out, and says
 * how to; it never counts as a pass. Neither is a failure.
 */
export type Mark = 'ok' | 'fail' | 'note' | 'untested';

/** One finding. */
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
export const note = (detail: string): Finding => ({ mark: 'note', detail });
export const untested = (reason: string): Finding => ({ mark: 'untested', detail: `not tested: ${reason}` });
