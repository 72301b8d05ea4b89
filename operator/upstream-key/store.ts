import type { Members } from './members.ts';

/** Makes other members of those that there are, and something to tell. The same members mean that nothing changes. */
export type Change<T> = (members: Members) => { readonly members: Members; readonly outcome: T };

/** Where the keys of upstreams are kept. */
export interface Store {
  read(): Promise<Members>;
  /** May make the change several times, each time of what others have just written. */
  edit<T>(change: Change<T>): Promise<T>;
  /** What follows from a change: when it is in use, or what to do for it. */
  readonly afterwards: string;
}
