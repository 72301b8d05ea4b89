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
  /** What a member may spend, shared by all keys without counters of their own. */
  readonly memberBudget?: Budget | undefined;
}

/** The counter for a request of this identity, which may cost `reserve` micros. */
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
    // A budget's kind may be changed, and changed back: what was spent counts until the last period of all kinds has ended. Kept
    // for a day more, for answers that end in the next one.
    expiresAt: Math.max(...budgetWindows.map((kind) => budgetPeriod(kind, now).endsAt)) + dayLength,
    budget: { ...allowed, period: name, resetAt: endsAt, reserve },
  };
}

/** What the caller may spend; undefined for one without a budget. */
export function budgetOf(identity: Identity, { memberBudget }: Pick<Limits, 'memberBudget'>): Budget | undefined {
  return identity.kind === 'guest' ? undefined : (identity.own?.budget ?? memberBudget);
}

/** The owner of a counter's item; undefined for one that counts no quota. */
export function readCounterName(item: string): CounterName | undefined {
  const [, kind, name] = /^(guest|key|member)#(.+)$/.exec(item) ?? [];
  return name === undefined ? undefined : { kind: kind as CounterName['kind'], name };
}

export interface CounterName {
  readonly kind: 'guest' | 'key' | 'member';
  /** A network's hash, a key's id or a member. */
  readonly name: string;
}

/** The counter for count_tokens: no quota, and a burst limit of its own, so that counting can't starve requests. */
export function tokenCountWindow(identity: Identity, now: number, limits: Limits): CounterWindow {
  return {
    item: `count_tokens#${ownerOf(identity)}`,
    ...limitsOf(identity, limits),
    limit: Number.MAX_SAFE_INTEGER,
    minute: minuteOf(now),
    expiresAt: now + dayLength,
  };
}

/** A member, or one of its keys that has counters of its own. */
interface Owner {
  readonly member: string;
  readonly keyId?: string;
  readonly own?: OwnLimits | undefined;
}

type MemberLimits = Pick<Limits, 'memberLimit' | 'memberBudget'>;

/** The counter of a member, or of one of its keys. */
export function memberWindow({ memberLimit, memberBudget }: MemberLimits, owner: Owner, now: number): CounterWindow {
  // Guests and bursts play no part in a member's window.
  const limits = { memberLimit, memberBudget, guestLimit: 0, guestWindow: 'daily', burstLimit: 1 } as const;
  return quotaWindow({ kind: 'member', ...owner }, now, limits);
}

/** Reads what has been used of the current windows. */
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

/** All that is counted for a caller. Times are epoch milliseconds. */
export function usageOf(
  window: CounterWindow,
  standing: CounterState & { readonly uses: readonly ModelUse[] },
  now: number,
  requestTimeout?: number,
) {
  const { limit, burst, resetAt, budget } = window;
  const { used } = standing;
  const left = budget && { ...budgetUsage(budget, standing, now, requestTimeout), uses: standing.uses };
  return { used, limit, remaining: Math.max(0, limit - used), resetAt, burst, budget: left };
}

function limitsOf(identity: Identity, { guestLimit, memberLimit, burstLimit }: Limits) {
  if (identity.kind === 'guest') return { limit: guestLimit, burst: burstLimit };
  return { limit: identity.own?.limit ?? memberLimit, burst: identity.own?.burst ?? burstLimit };
}

/** A member's keys share one counter, except a key that has something of its own. */
function ownerOf(identity: Identity): string {
  if (identity.kind === 'guest') return `guest#${identity.networkId}`;
  const { member, keyId, own } = identity;
  return keyId !== undefined && own !== undefined ? `key#${keyId}` : `member#${member}`;
}
