import { type Budget, budgetPeriod, budgetUsage, budgetWindows } from '../budget/budget-window.ts';
import { dayLength, dayOf, minuteOf } from '../budget/time.ts';
import type { Identity } from '../identity/identify.ts';
import type { OwnLimits } from '../identity/issued-keys.ts';
import type { CounterState, Counters, CounterWindow, ModelUse } from '../store/counters.ts';

export interface Limits {
  readonly guestLimit: number;
  readonly guestWindow: 'lifetime' | 'daily';
  readonly memberLimit: number;
  readonly burstLimit: number;
  /** A member's budget, shared by all of its keys that have no counters of their own. */
  readonly memberBudget?: Budget | undefined;
}

/** The counter and the limits for a request of this identity. `reserve`: what it may cost, in micros. */
export function quotaWindow(identity: Identity, now: number, limits: Limits, reserve?: number): CounterWindow {
  const counter = { item: ownerOf(identity), ...limitsOf(identity, limits), minute: minuteOf(now) };
  if (identity.kind === 'guest' && limits.guestWindow === 'lifetime') return counter;
  const day = dayOf(now);
  const allowed = budgetOf(identity, limits);
  if (allowed === undefined) return { ...counter, ...day };
  const { name, endsAt } = budgetPeriod(allowed.window, now);
  return {
    ...counter,
    ...day,
    // An operator may change a budget's window, and change it back. So the item lives until the current period of every window has
    // ended, and a day longer, for answers that end in the next period.
    expiresAt: Math.max(...budgetWindows.map((kind) => budgetPeriod(kind, now).endsAt)) + dayLength,
    budget: { ...allowed, period: name, resetAt: endsAt, reserve },
  };
}

/** The caller's budget, if it has one. */
export function budgetOf(identity: Identity, { memberBudget }: Pick<Limits, 'memberBudget'>): Budget | undefined {
  return identity.kind === 'guest' ? undefined : (identity.own?.budget ?? memberBudget);
}

/** Whose quota an item counts; undefined for any other item. */
export function readCounterName(item: string): CounterName | undefined {
  const [, kind, name] = /^(guest|key|member)#(.+)$/.exec(item) ?? [];
  return name === undefined ? undefined : { kind: kind as CounterName['kind'], name };
}

export interface CounterName {
  readonly kind: 'guest' | 'key' | 'member';
  /** The hash of a network, the id of a key, or a member. */
  readonly name: string;
}

/** The counter for count_tokens. It has no quota, and its own burst limit, so that counting tokens can't starve requests. */
export function tokenCountWindow(identity: Identity, now: number, limits: Limits): CounterWindow {
  return {
    item: `count_tokens#${ownerOf(identity)}`,
    ...limitsOf(identity, limits),
    limit: Number.MAX_SAFE_INTEGER,
    minute: minuteOf(now),
    expiresAt: now + dayLength,
  };
}

/** A member, or one of its keys that has its own counters. */
interface Owner {
  readonly member: string;
  readonly keyId?: string;
  readonly own?: OwnLimits | undefined;
}

type MemberLimits = Pick<Limits, 'memberLimit' | 'memberBudget'>;

/** The counter of a member, or of one of its keys. */
export function memberWindow({ memberLimit, memberBudget }: MemberLimits, owner: Owner, now: number): CounterWindow {
  // Guest and burst limits don't matter for a member's window.
  const limits = { memberLimit, memberBudget, guestLimit: 0, guestWindow: 'daily', burstLimit: 1 } as const;
  return quotaWindow({ kind: 'member', ...owner }, now, limits);
}

/** Reads the usage of the current day and budget period. */
export async function readMemberUsage(
  { counters, ...limits }: MemberLimits & { readonly counters: Pick<Counters, 'read'> },
  owner: Owner,
  now: number,
) {
  const window = memberWindow(limits, owner, now);
  const { burst: _, resetAt = now, ...usage } = usageOf(window, await counters.read(window), now);
  return { ...usage, resetAt };
}

export type Usage = ReturnType<typeof usageOf>;

/** Everything that is counted for a caller. Times are epoch milliseconds. */
export function usageOf(
  window: CounterWindow,
  state: CounterState & { readonly uses: readonly ModelUse[] },
  now: number,
  requestTimeout?: number,
) {
  const { limit, burst, resetAt, budget } = window;
  const { used } = state;
  const left = budget && { ...budgetUsage(budget, state, now, requestTimeout), uses: state.uses };
  return { used, limit, remaining: Math.max(0, limit - used), resetAt, burst, budget: left };
}

function limitsOf(identity: Identity, { guestLimit, memberLimit, burstLimit }: Limits) {
  if (identity.kind === 'guest') return { limit: guestLimit, burst: burstLimit };
  return { limit: identity.own?.limit ?? memberLimit, burst: identity.own?.burst ?? burstLimit };
}

/** A member's keys share one counter, except for keys with limits of their own. */
function ownerOf(identity: Identity): string {
  if (identity.kind === 'guest') return `guest#${identity.networkId}`;
  const { member, keyId, own } = identity;
  return keyId !== undefined && own !== undefined ? `key#${keyId}` : `member#${member}`;
}
