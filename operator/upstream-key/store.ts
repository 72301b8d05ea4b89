import type { Members } from './members.ts';

/** Returns the new members, and an outcome to report. Returning the same members changes nothing. */
export type Change<T> = (members: Members) => { readonly members: Members; readonly outcome: T };

/** Where the upstreams' keys are stored. */
export interface Store {
  read(): Promise<Members>;
  /** May call `change` again, with fresh members, if another process wrote in between. */
  edit<T>(change: Change<T>): Promise<T>;
  /** When a change takes effect, or what the operator must do for that. */
  readonly afterwards: string;
}
