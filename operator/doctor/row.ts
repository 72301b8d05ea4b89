/** `note` is for what can't be told, or is as an operator may have wanted it: it fails nothing. */
export type Mark = 'ok' | 'fail' | 'note';

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
