import type { Action, SignedIn, WithInput } from './request.ts';

/** What the members of one way of signing in may have. */
export interface MemberRules {
  /** Live keys of a member. */
  readonly keysAllowed: number;
  /** Milliseconds until a key expires, unless its member signs in and renews it; undefined if keys don't. */
  readonly keyLifetime?: number;
  /**
   * Whether the network of whoever signs in counts as its member, and its grants are counted. Anyone can make any number of
   * members out of nothing there.
   */
  readonly byNetwork: boolean;
}

/** A way to sign in. All else knows members only: by their names a way recognizes its own. */
export interface Way {
  owns(member: string): boolean;
  readonly rules: MemberRules;
  /** What anyone may call, by its path below the page. */
  readonly actions: Readonly<Record<string, Action<WithInput>>>;
  /** What only its members may call. */
  readonly memberActions: Readonly<Record<string, Action<WithInput & SignedIn>>>;
}

export type FindRules = (member: string) => MemberRules;

/** The rules for a member whose way is no longer offered: nothing new. */
const none: MemberRules = { keysAllowed: 0, byNetwork: false };

export const createFindRules =
  (ways: readonly Pick<Way, 'owns' | 'rules'>[]): FindRules =>
  (member) =>
    ways.find((way) => way.owns(member))?.rules ?? none;
